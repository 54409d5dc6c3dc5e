#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "infer/decoder.hpp"
#include "infer/sampling.hpp"
#include "tensor/named_tensor.hpp"

namespace causeway::infer {

/// How sequences are continued.
struct GenerationOptions {
    std::int64_t max_new_tokens = 100;  ///< 0 generates nothing
    SamplingOptions sampling;
    std::vector<std::int32_t> eos_token_ids;  ///< each of them ends a sequence
    /// Bytes that end a sequence wherever they come up in its text; need token_text.
    std::vector<std::string> stop;
    std::function<std::string(std::int32_t token)> token_text;  ///< the bytes a token stands for
    bool cache = true;  ///< false: every token reads its whole sequence anew, as a check and to compare
    /// Row i draws the random numbers of sequence first_sequence + i of the seed.
    std::uint64_t first_sequence = 0;
    /// Called with each new token; false ends the generation of all rows after it.
    std::function<bool(std::int64_t row, std::int32_t token)> on_token;
    /// Called with new text of a row as soon as no stop string can begin in it; needs token_text.
    std::function<void(std::int64_t row, std::string_view text)> on_text;
};

/// Throws ConfigError, naming the option, its value and what is allowed: see check_sampling, and a negative
/// max_new_tokens, an empty stop string, stop strings without token_text.
void check_generation(const GenerationOptions& options);

enum class FinishReason {
    length,     ///< max_new_tokens came
    eos,        ///< an end-of-sequence token came; it is the last one
    stop,       ///< a stop string came
    cancelled,  ///< on_token said so
};
std::string_view to_string(FinishReason reason);

/// What came after one prompt.
struct Continuation {
    std::vector<std::int32_t> tokens;
    std::string text;  ///< of the tokens up to eos or a stop string; empty without token_text
    FinishReason reason = FinishReason::length;
};

/// What a generation took. The first token of each row comes from reading its prompt.
struct GenerationTimes {
    std::int64_t prompt_tokens = 0;   ///< of all rows
    std::int64_t decoded_tokens = 0;  ///< of all rows, beyond their first
    double prefill_seconds = 0;
    double decode_seconds = 0;
};

/// Continues sequences with a model whose keys and values are cached. Of a sequence that outgrows the context of C
/// tokens the oldest are forgotten, C/2 at a time, and the rest is read again at positions 0, 1, ...: after n tokens
/// the model sees those from index ceil((n - C) / (C/2)) * (C/2) on, or all while n <= C.
class Generator {
  public:
    /// Compiles the model of a resolved config; see Decoder.
    explicit Generator(const Config& config, const DecoderOptions& options = {});
    /// The same with the parameters of a runtime that lives on, a trainer's for instance: see Decoder.
    Generator(const Config& config, const DecoderOptions& options, ModelRuntime& runtime);
    /// The same with the parameters of a run's folder. Throws IoError, ConfigError for what is there.
    static Generator from_run(const std::string& folder, const std::vector<std::string>& overrides = {},
                              const DecoderOptions& options = {});
    ~Generator();
    Generator(Generator&&) noexcept;
    Generator& operator=(Generator&&) noexcept;

    const Config& config() const;
    int threads() const;
    std::int64_t batch() const;
    std::vector<NamedTensor> parameters();
    /// To be called when parameters have changed.
    void refresh();

    /// Throws DataError when there are no ids or one is outside the vocabulary.
    void check_prompt(std::span<const std::int32_t> ids) const;

    /// Logits (V) of the token that follows `ids`; valid until the next call. Throws as check_prompt does.
    std::span<const float> next_logits(std::span<const std::int32_t> ids);

    /// Continues up to batch() prompts side by side; each as if it were alone. Rows that have ended cost nothing but
    /// their share of the matrix products, until all have. Throws as check_prompt does, DataError for more prompts than
    /// rows, ConfigError for the options, NumericError when the model's logits are not finite.
    std::vector<Continuation> generate(std::span<const std::vector<std::int32_t>> prompts,
                                       const GenerationOptions& options);
    /// The new tokens after one prompt.
    std::vector<std::int32_t> generate(std::span<const std::int32_t> prompt, const GenerationOptions& options);

    /// Of the last generate.
    const GenerationTimes& times() const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace causeway::infer
