#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "infer/generator.hpp"
#include "io/append_file.hpp"
#include "io/tokenizer/tokenizer.hpp"
#include "train/trainer.hpp"

namespace causeway::cli {

/// What the model writes while it learns: every train.sample_every steps a continuation of train.sample_prompt, from
/// the parameters as they are, appended to samples.jsonl. The plans for it lie in the trainer's memory, which is known
/// and checked before the first step. Training's results do not change by a bit.
class TrainSamples {
  public:
    /// Asks the trainer that is to be made of this config and these options for what samples need; nothing when the
    /// config wants none. Throws IoError for the tokenizer, DataError for a prompt that has no tokens.
    TrainSamples(const Config& config, train::TrainerOptions& options);

    /// To be called with that trainer. Throws DataError for a prompt outside the vocabulary.
    void attach(train::Trainer& trainer);

    /// Begins samples.jsonl, or goes on with what is there up to a step that is not 0. Throws IoError.
    void open(const std::string& path, std::int64_t step);
    /// The samples of later steps go. Throws IoError.
    void cut_after(std::int64_t step);

    /// The text of a sample when one is due after this step. Throws NumericError when the logits are not finite,
    /// IoError.
    std::optional<std::string> after_step(std::int64_t step);

  private:
    std::string text_of(const std::vector<std::int32_t>& tokens) const;

    Config config_;
    std::shared_ptr<const Tokenizer> tokenizer_;
    std::vector<std::int32_t> prompt_;
    infer::DecoderOptions decoder_;
    std::optional<infer::Generator> generator_;  ///< none: no samples are wanted
    std::optional<AppendFile> lines_;
};

}  // namespace causeway::cli
