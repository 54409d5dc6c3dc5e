#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "tensor/named_tensor.hpp"

namespace causeway {

/// The files of a run's folder.
struct RunFolder {
    std::string folder;
    std::string config() const { return folder + "/config.json"; }
    std::string parameters() const { return folder + "/model.safetensors"; }
    std::string generation() const { return folder + "/generation_config.json"; }
    std::string metrics() const { return folder + "/metrics.jsonl"; }
};

/// Writes config.json (resolved) and model.safetensors, each atomically; the folder is made if need be. Throws IoError.
void save_run(const RunFolder& run, const Config& config, std::span<const NamedTensor> parameters);

/// The config of a run. Throws IoError when the folder or its config.json is missing (the message says what a run's
/// folder holds), ConfigError for its content.
Config load_run(const RunFolder& run, const std::vector<std::string>& overrides = {});

/// Fills the tensors (f32 or f64) from a safetensors file (F32 or F64). Returns the names of tensors in the file that
/// nobody asked for. Throws IoError with one report of every tensor that is missing or has another shape or dtype, with
/// both shapes, NumericError for a NaN or an infinity; nothing is written then.
std::vector<std::string> load_parameters(const std::string& path, std::span<const NamedTensor> tensors);

}  // namespace causeway
