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
    std::string tokenizer() const { return folder + "/tokenizer.json"; }
    std::string metrics() const { return folder + "/metrics.jsonl"; }
    std::string samples() const { return folder + "/samples.jsonl"; }
    std::string card() const { return folder + "/run.json"; }  ///< machine, plan and state of the run
    std::string report() const { return folder + "/report.html"; }
    std::string events() const { return folder + "/tensorboard"; }       ///< a folder
    std::string checkpoints() const { return folder + "/checkpoints"; }  ///< a folder of folders
};

/// Makes a folder, and those it is in, unless it is there. Throws IoError.
void make_folder(const std::string& folder);

/// Writes config.json (resolved) and model.safetensors, each atomically, and copies the tokenizer of data.tokenizer;
/// the folder is made if need be. Throws IoError.
void save_run(const RunFolder& run, const Config& config, std::span<const NamedTensor> parameters);

/// Copies a tokenizer.json (or that of a folder), and the tokenizer_config.json beside it, to the run's folder. Does
/// nothing for an empty path, and where the original is gone but the folder has a copy. Throws IoError.
void copy_tokenizer(const std::string& path, const RunFolder& run);

/// The tokenizer.json that belongs to a model: the copy in its folder (of a checkpoint's, that in the run's), or what
/// data.tokenizer names. Empty when there is none, or none any more.
std::string find_tokenizer(const RunFolder& run, const Config& config);

/// The config of a run, of a folder from HuggingFace, whose config.json is the model's alone, or of llm.c's .bin file
/// in place of a folder. Throws IoError when the folder or its config.json is missing (the message says what a run's
/// folder holds), ConfigError for its content.
Config load_run(const RunFolder& run, const std::vector<std::string>& overrides = {});

}  // namespace causeway
