#pragma once

#include "config/config.hpp"

namespace causeway::config {

/// Replaces every 0 that stands for "derived from other fields". Takes values inside their ranges.
void resolve_derived(Config& config);

}  // namespace causeway::config
