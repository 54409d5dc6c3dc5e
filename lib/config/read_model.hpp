#pragma once

#include <string>

#include "config/config.hpp"
#include "config/json.hpp"
#include "config/mistake.hpp"

namespace causeway::config {

/// Reads section "model", or the whole of a config.json of HuggingFace's, into config.model. The family it names, or
/// `model_type` where that is not empty, gives the defaults and the meaning of the keys; the fields of Causeway's own
/// table are understood in every family. `where.path` is "model", or empty when keys stand at the top level.
/// `start`: what fields that are not given keep, instead of the family's defaults. Throws ConfigError.
void read_model(Config& config, const Json& values, const Where& where, const std::string& model_type,
                const ModelConfig* start);

}  // namespace causeway::config
