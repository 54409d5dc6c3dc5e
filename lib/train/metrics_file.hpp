#pragma once

#include <cstdint>
#include <string>

namespace causeway::train {

/// Makes a run's metrics.jsonl end with `step`, for a run that goes on from there: the lines of later steps go, and
/// what a write that was cut short has left; `line` becomes the one of `step` (empty: none is written). The file is
/// replaced as a whole, and made if there is none. Returns what is to be said when lines of steps before `step` are
/// missing, otherwise nothing. Throws IoError.
std::string cut_metrics(const std::string& path, std::int64_t step, const std::string& line);

}  // namespace causeway::train
