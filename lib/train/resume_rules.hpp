#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace causeway::train {

/// What a resumed run does otherwise than it did so far: a line for people a changed field, with its old and new value
/// and what follows from it. docs/resume.md lists the fields that may change. Throws ConfigError, naming field and both
/// values, for one that may not: the run would be another one.
std::vector<std::string> resume_changes(const Config& saved, const Config& now);

}  // namespace causeway::train
