#pragma once

#include <string>

#include "config/config.hpp"

namespace causeway::config {

/// Throws ConfigError where rope_parameters, position_embedding and head_dim do not go together.
void check_rope(const Config& config, const std::string& origin);

}  // namespace causeway::config
