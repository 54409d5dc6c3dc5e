#pragma once

#include <string>

#include "config/config.hpp"

namespace causeway::config {

/// Throws ConfigError for fields of section "data" that do not go together, or with the model or the training.
void check_data(const Config& config, const std::string& origin);

}  // namespace causeway::config
