#pragma once

#include <string>

#include "config/config.hpp"

namespace causeway::config {

/// Throws ConfigError when fields of section "train" contradict each other, or one is set that another makes
/// meaningless.
void check_train(const Config& config, const std::string& origin);

}  // namespace causeway::config
