#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace causeway {

/// How a sequence is continued. Applied in this order: repetition_penalty, temperature, top_k, top_p, min_p.
struct GenerationSettings {
    std::int64_t max_new_tokens = 100;
    double temperature = 0.8;                 ///< logits are divided by it; 0: the most likely token each time
    std::int64_t top_k = 0;                   ///< only the k most likely; 0: all
    double top_p = 1;                         ///< only the most likely that make up p together; 1: all
    double min_p = 0;                         ///< only those at least p times as likely as the first; 0: all
    double repetition_penalty = 1;            ///< above 1: tokens that have occurred become less likely
    std::uint64_t seed = 42;                  ///< the same seed gives the same tokens, whatever the number of threads
    std::vector<std::int32_t> eos_token_ids;  ///< each ends a sequence; it is its last token
    /// Called with each new token as soon as it is known; false ends the generation.
    std::function<bool(std::int64_t row, std::int32_t token)> on_token;
};

/// Continues sequences with a saved model. Keys and values of what was read are kept, so a token costs one pass over
/// the weights. Of a sequence longer than the model's context the oldest tokens are forgotten, half a context at a
/// time. One thread at a time may use a generator.
///
///     causeway::Generator generator("run");
///     for (std::int32_t id : generator.generate(prompt, {.max_new_tokens = 20, .temperature = 0})) print(id);
class Generator {
  public:
    /// Loads a folder that Trainer::save wrote and reserves memory for `rows` sequences side by side. Overrides as in
    /// compile. Throws IoError or ConfigError for what is in the folder, CapacityError when the memory does not
    /// suffice.
    explicit Generator(const std::string& folder, std::int64_t rows = 1,
                       const std::vector<std::string>& overrides = {});
    ~Generator();
    Generator(Generator&& other) noexcept;
    Generator& operator=(Generator&& other) noexcept;

    /// What the folder's generation_config.json or the model's family asks for.
    GenerationSettings defaults() const;

    /// The new tokens after a prompt. Throws DataError for an empty prompt or an id outside the vocabulary, ConfigError
    /// for the settings, NumericError when the model's logits are not finite.
    std::vector<std::int32_t> generate(std::span<const std::int32_t> prompt, const GenerationSettings& settings);
    /// The same for up to `rows` prompts side by side, each as if it were alone; row i draws random numbers of its own.
    std::vector<std::vector<std::int32_t>> generate(std::span<const std::vector<std::int32_t>> prompts,
                                                    const GenerationSettings& settings);

    /// Logits (V) of the token that follows `ids`; valid until the next call. Throws as generate does.
    std::span<const float> logits(std::span<const std::int32_t> ids);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace causeway
