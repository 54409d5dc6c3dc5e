#pragma once

#include "config/config.hpp"
#include "config/json.hpp"

namespace causeway::config {

/// The config.json that transformers (4 and 5) reads as this model, without dtype and token ids. A resolved model of a
/// family is written as that family, minimind as qwen3 or qwen3_moe, a free composition as the first family that has
/// it. Throws ConfigError, saying what is in the way for each family, when none has.
Json hf_config(const ModelConfig& model);

}  // namespace causeway::config
