#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "tensor/dtype.hpp"

namespace causeway {

/// What a conversion did.
struct Conversion {
    ModelConfig model;
    std::string written_as;           ///< model_type of the result
    std::int64_t parameters = 0;      ///< a tied one once
    std::vector<std::string> unused;  ///< tensors of the source that the model has no use for
    std::vector<std::string> copied;  ///< files that came along unchanged: tokenizer, generation_config.json
};

/// Makes a run's folder (config.json, model.safetensors in f32) of a folder from HuggingFace, or of llm.c's .bin file.
/// Files of the tokenizer and generation_config.json come along; where the latter is missing and the source's
/// config.json names token ids, it is made of them. Every file is written atomically, the folder made if need be.
/// Throws IoError, ConfigError, NumericError; nothing is written before the source is proven to fit.
Conversion import_model(const std::string& source, const std::string& folder,
                        const std::vector<std::string>& overrides = {});

/// Makes a folder that transformers loads of a run's: config.json of the family (see config::hf_config), weights as f32
/// or bf16, and the same companions. Throws as import_model does, ConfigError where no family has the model.
Conversion export_model(const std::string& source, const std::string& folder, DType dtype = DType::f32);

}  // namespace causeway
