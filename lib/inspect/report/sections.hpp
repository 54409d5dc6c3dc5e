#pragma once

#include <string>

#include "inspect/report/page.hpp"

namespace causeway::report {

/// The parts of a page, from the top down, each as HTML; empty where there is nothing to say.
std::string heading(const RunRecords& records);
std::string tiles(const RunRecords& records);
std::string warnings(const RunHistory& history);
std::string charts(const RunRecords& records);
std::string expert_section(const RunHistory& history);
std::string sample_section(const Samples& samples);
std::string config_section(const Config& config);
std::string machine_section(const RunRecords& records);
std::string file_section(const std::string& folder);

/// A figure of the run with its name.
struct Fact {
    std::string name, value;
};
/// Those at the top of the page.
std::vector<Fact> first_facts(const RunRecords& records);
/// "running", "done", ..., and in words why it ended: of the card's last session, without a card as the last line of
/// metrics.jsonl says.
struct StateWords {
    std::string state, why;
};
StateWords state_words(const RunRecords& records);

}  // namespace causeway::report
