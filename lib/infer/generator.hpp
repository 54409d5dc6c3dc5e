#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "infer/sampling.hpp"
#include "tensor/named_tensor.hpp"

namespace causeway {

class ModelRuntime;

struct GenerationOptions {
    std::int64_t max_new_tokens = 100;  ///< 0 generates nothing
    SamplingOptions sampling;
    /// Called with each new token; false ends the generation after it.
    std::function<bool(std::int32_t token)> on_token;
};

/// Continues sequences with a model. Every token is one forward pass over the sequence so far; of a sequence longer
/// than the model's context the last model.max_position_embeddings tokens count (a window that slides), at positions
/// 0, 1, ... of their own.
class Generator {
  public:
    /// Compiles the model of a resolved config for one sequence: a plan for each length 16, 32, 64, ... up to the
    /// context, so that short sequences stay cheap. Parameters are zero until the caller fills parameters() and calls
    /// refresh(). Throws ConfigError, or CapacityError when the memory does not suffice.
    explicit Generator(const Config& config);
    /// The same with the parameters of a run's folder. Throws IoError, ConfigError for what is there.
    static Generator from_run(const std::string& folder, const std::vector<std::string>& overrides = {});
    ~Generator();
    Generator(Generator&&) noexcept;
    Generator& operator=(Generator&&) noexcept;

    const Config& config() const;
    int threads() const;
    std::vector<NamedTensor> parameters();
    void refresh();

    /// Throws DataError when there are no ids or one is outside the vocabulary.
    void check_prompt(std::span<const std::int32_t> ids) const;

    /// Logits (V) of the token that follows `ids`; valid until the next call. Throws as check_prompt does.
    std::span<const float> next_logits(std::span<const std::int32_t> ids);

    /// The new tokens after a prompt. Throws as check_prompt does, ConfigError for the options, NumericError when
    /// the model's logits are not finite.
    std::vector<std::int32_t> generate(std::span<const std::int32_t> prompt, const GenerationOptions& options);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace causeway
