#pragma once

#include <optional>
#include <string>

#include "config/config.hpp"
#include "inspect/report/run_card.hpp"
#include "inspect/report/run_history.hpp"
#include "inspect/report/samples.hpp"

namespace causeway::report {

/// Everything a report is made of.
struct RunRecords {
    std::string folder;
    Config config;
    std::optional<RunCard> card;  ///< none: the run is older than cards
    RunHistory history;
    Samples samples;
};

/// One HTML page that needs nothing beside itself: no network, no other file. O(points shown).
std::string page(const RunRecords& records);

/// The first figures as lines for a terminal.
std::string summary_text(const RunRecords& records);

}  // namespace causeway::report
