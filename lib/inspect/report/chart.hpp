#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inspect/report/curve.hpp"

namespace causeway::report {

/// One line of a chart.
struct Series {
    std::string name;
    const Curve* curve = nullptr;
    int colour = 1;       ///< 1 to 4, of the style sheet
    bool smooth = false;  ///< a running mean before the band of all values
    bool dots = false;    ///< a mark at every point
};

/// Several figures over the steps of a run.
struct ChartSpec {
    std::string title;
    std::string unit;                 ///< what is counted upwards: "nats a token"
    bool may_be_logarithmic = false;  ///< a logarithmic scale where values differ by more than 20 times
    std::optional<double> reference;  ///< a dashed line across
    std::string reference_name;
    std::span<const std::int64_t> marked_steps;  ///< marked at the lower edge
    std::string mark_name;
};

/// An HTML figure with the chart as SVG, coloured by the page's style sheet. There are three axes below it, by step, by
/// tokens (tokens_per_step each, none when 0) and by time, of which the page shows one. Every series has at most
/// 300 points; the values are added for the page's script, which shows them under the pointer.
std::string chart(const ChartSpec& spec, std::span<const Series> series, double tokens_per_step);

}  // namespace causeway::report
