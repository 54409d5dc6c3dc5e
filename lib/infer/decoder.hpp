#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "config/config.hpp"
#include "exec/model_runtime.hpp"

namespace causeway {
class SharedLayout;
}  // namespace causeway

namespace causeway::infer {

struct DecoderOptions {
    std::int64_t batch = 1;     ///< rows: sequences that are continued side by side
    std::int64_t capacity = 0;  ///< tokens a row that the cache holds; 0 or more than that: the model's context
                                ///< (with dynamic rotary scaling its original_max_position_embeddings)
    std::int64_t chunk = 512;   ///< most tokens a row that one pass reads
};

/// The plans that a Decoder of these options runs, made with a layout that other plans of the model may share: their
/// parameters are then the same memory. Throws ConfigError for the options.
std::vector<ExecutionPlan> decoder_plans(const Config& config, const DecoderOptions& options, SharedLayout& layout);

/// A model that remembers the keys and values of what it has read, so that a new token costs one pass over the weights
/// and the cache, whatever came before it. Rows are independent: each has a length of its own, and what it reads does
/// not depend on the other rows or on how its tokens are cut into calls, up to rounding.
///
/// Memory: parameters, their packed copies, and 2 * layers * kv_heads * head_dim numbers a token of capacity and row,
/// all reserved by the constructor. Nothing is allocated afterwards.
class Decoder {
  public:
    /// Compiles the model of a resolved config: a prefill plan for each of some lengths up to `chunk`, and a decode
    /// plan for each of some lengths of the past, which differ in what they expect attention to cost. Parameters are
    /// zero until the caller fills parameters() and calls refresh(). Throws ConfigError for the options, CapacityError
    /// when the memory does not suffice.
    Decoder(const Config& config, const DecoderOptions& options);
    /// Reads with the parameters of a runtime that lives on, as they are at each feed; its plans include those of
    /// decoder_plans, made from the same config and options. Nothing is compiled or reserved. When parameters have
    /// changed call runtime().refresh().
    Decoder(const Config& config, const DecoderOptions& options, ModelRuntime& runtime);

    std::int64_t batch() const { return options_.batch; }
    std::int64_t capacity() const { return options_.capacity; }
    /// Tokens of a row that the cache holds.
    std::int64_t length(std::int64_t row) const { return lengths_[static_cast<std::size_t>(row)]; }
    ModelRuntime& runtime() { return *runtime_; }

    /// Forgets what a row, or every row, has read.
    void clear(std::int64_t row) { lengths_[static_cast<std::size_t>(row)] = 0; }
    void clear();

    /// Reads the next tokens of each row, `batch` spans; an empty one leaves its row as it is. Throws DataError, with
    /// row and capacity, when they do not fit; nothing is read then. Token ids must be inside the vocabulary.
    /// O(T (parameters + layers * hidden * length)) for T tokens.
    void feed(std::span<const std::span<const std::int32_t>> tokens);

    /// Logits (V) after the last token of a row of the last feed; valid until the next one.
    std::span<const float> logits(std::int64_t row) const;

  private:
    /// A plan and the inputs it reads.
    struct Pass {
        std::int64_t tokens = 0;   ///< a row
        std::int64_t context = 0;  ///< longest past and present of a row that the plan expects
        Executor* executor = nullptr;
        std::span<std::int32_t> ids, past, count;
        std::span<const float> logits;
    };

    Decoder(const Config& config, const DecoderOptions& options, std::unique_ptr<ModelRuntime> runtime);
    Pass& pass_for(std::int64_t tokens, std::int64_t context);
    void check_room(std::span<const std::span<const std::int32_t>> tokens) const;
    void run(std::span<const std::span<const std::int32_t>> tokens, std::int64_t longest, std::int64_t begin,
             std::int64_t end);

    DecoderOptions options_;
    std::int64_t vocab_size_;
    std::unique_ptr<ModelRuntime> own_;  ///< nothing when the runtime is another's
    ModelRuntime* runtime_;
    std::vector<Pass> passes_;  ///< by tokens, then context
    std::vector<std::int64_t> lengths_;
    const Pass* last_ = nullptr;
};

}  // namespace causeway::infer
