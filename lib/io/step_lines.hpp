#pragma once

#include <cstdint>
#include <string>

namespace causeway {

/// What a log of steps has.
struct StepLines {
    std::int64_t last = 0;     ///< step of the last line; 0: none
    std::int64_t missing = 0;  ///< steps from 1 on that have no line
};

/// Cuts a log whose lines begin with {"step":N (metrics.jsonl, samples.jsonl) after its last whole line of a step up to
/// `step`, so that what a run that goes on from there writes again is not there twice. Lines before it that are no such
/// object stay. The file is replaced as a whole, or left alone when nothing is to go; one that is not there has no
/// lines. Returns what is left, with the steps up to `step` that are missing in it. Throws IoError. O(bytes).
StepLines cut_after(const std::string& path, std::int64_t step);

}  // namespace causeway
