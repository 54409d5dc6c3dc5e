#pragma once

#include <string>

#include "config/config.hpp"

namespace causeway::config {

/// Whether the samples that train.sample_every asks for can be made. Throws ConfigError naming the field.
void check_samples(const Config& config, const std::string& origin);

}  // namespace causeway::config
