#pragma once

#include <string>

#include "config/config.hpp"

namespace causeway::config {

/// Applies one `section.field=value` to the config. The value is JSON; strings need no quotes. Throws ConfigError.
void apply_override(Config& config, const std::string& assignment);

}  // namespace causeway::config
