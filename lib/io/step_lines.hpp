#pragma once

#include <cstdint>
#include <string>

namespace causeway {

/// Of a log whose lines are JSON objects with a "step" (metrics.jsonl, samples.jsonl), keeps those up to and including
/// `step`, so that what a resumed run writes again is not there twice. The file is replaced as a whole, or left alone
/// when nothing is to go. A last line without a newline goes too, and so does what is no such object. A file that is
/// not there is nothing to cut. Returns the lines that went. Throws IoError. O(bytes of the file).
std::int64_t cut_lines_after(const std::string& path, std::int64_t step);

}  // namespace causeway
