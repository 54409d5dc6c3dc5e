#pragma once

#include <string>

#include "config/config.hpp"

namespace causeway::config {

/// Checks what no field can know alone: how they fit together. Takes a resolved config; `origin` is for messages.
/// Throws ConfigError at the first rule that is broken, naming the fields and their values.
void check_rules(const Config& config, const std::string& origin);

}  // namespace causeway::config
