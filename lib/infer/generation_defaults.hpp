#pragma once

#include <string>

#include "config/config.hpp"
#include "infer/generator.hpp"

namespace causeway::infer {

/// Settings for a model whose owner says how to sample from it: what its folder's generation_config.json says, else
/// what its family is published with (MiniMind: temperature 0.85, top_p 0.85, top_k 50, eos 2), else those of
/// GenerationOptions. In a generation_config.json do_sample is false when absent, which is temperature 0, and so are
/// top_k 50 and top_p 1 when it samples, as in transformers. Throws IoError for the file.
GenerationOptions default_generation(const Config& config, const std::string& folder);

}  // namespace causeway::infer
