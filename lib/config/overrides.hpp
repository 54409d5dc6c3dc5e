#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace causeway::config {

/// Applies one `section.field=value` to the config. The value is JSON; strings need no quotes. Throws ConfigError.
/// In section "model" the keys of the config's family are understood too.
void apply_override(Config& config, const std::string& assignment);

/// The value of the last override of model.model_type, which decides how the file is read; empty when there is none.
std::string overridden_model_type(const std::vector<std::string>& overrides);

}  // namespace causeway::config
