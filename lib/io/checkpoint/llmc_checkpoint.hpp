#pragma once

#include <string>

#include "config/config.hpp"
#include "io/checkpoint/stored_tensors.hpp"

namespace causeway {

/// True when the file begins with the magic number of llm.c's checkpoints, 20240326. False for what cannot be read.
bool is_llmc_checkpoint(const std::string& path);

/// A GPT-2 as llm.c writes it (train_gpt2.py, write_model): 256 int32, then all parameters in float32 (version 3) or
/// bfloat16 (version 5), weights (out, in), the embedding padded to padded_vocab_size rows.
class LlmcCheckpoint {
  public:
    /// Throws IoError when the header makes no sense or the file's size does not follow from it.
    explicit LlmcCheckpoint(const std::string& path);

    /// Of model_type gpt2, without dropout, with the other sections as they are by default.
    const Config& config() const { return config_; }
    /// Under Causeway's names, without the padding.
    const StoredTensors& tensors() const { return tensors_; }

  private:
    Config config_;
    StoredTensors tensors_;
};

}  // namespace causeway
