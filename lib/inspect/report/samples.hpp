#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace causeway::report {

/// What a model wrote at a step.
struct Sample {
    std::int64_t step = 0;
    std::string prompt, text;
};

/// The samples of samples.jsonl that a page shows, in order.
struct Samples {
    static constexpr std::size_t first = 5, latest = 25;  ///< of many
    std::vector<Sample> shown;
    std::int64_t left_out = 0;  ///< between the first and the latest
};

/// Lines that are no sample are passed over; a file that is not there has none.
Samples read_samples(const std::string& path);

}  // namespace causeway::report
