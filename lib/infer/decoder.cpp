#include "infer/decoder.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "compile/compile.hpp"

namespace causeway::infer {
namespace {

/// The size of a plan: tokens a row, and the context it is planned for.
struct PlanSize {
    std::int64_t tokens, context;
    std::string name() const { return fmt::format("{} tokens of {}", tokens, context); }
};

/// 4, 8, 16, 24, 32, 48, 64, 96, ... and the chunk itself: a pass over fewer tokens than planned wastes a third at
/// most.
std::vector<std::int64_t> prefill_lengths(std::int64_t chunk) {
    std::vector<std::int64_t> lengths;
    for (std::int64_t power = 4; power < chunk; power *= 2) {
        lengths.push_back(power);
        const std::int64_t between = power + power / 2;
        if (power >= 16 && between < chunk) lengths.push_back(between);
    }
    if (chunk > 1) lengths.push_back(chunk);
    return lengths;
}

/// 256, 1024, 4096, ... and the capacity itself. The context only decides what is shared between threads.
std::vector<std::int64_t> decode_contexts(std::int64_t capacity) {
    std::vector<std::int64_t> contexts;
    for (std::int64_t context = 256; context < capacity; context *= 4) contexts.push_back(context);
    contexts.push_back(capacity);
    return contexts;
}

std::vector<PlanSize> plan_sizes(const DecoderOptions& options) {
    std::vector<PlanSize> sizes;
    for (const std::int64_t context : decode_contexts(options.capacity)) sizes.push_back({1, context});
    for (const std::int64_t length : prefill_lengths(std::min(options.chunk, options.capacity))) {
        sizes.push_back({length, options.capacity});
    }
    return sizes;
}

void check_at_least_one(const char* name, std::int64_t value) {
    if (value < 1) throw ConfigError(fmt::format("{}: found {}, expected an integer of at least 1", name, value));
}

DecoderOptions resolved(DecoderOptions options, const ModelConfig& model) {
    check_at_least_one("batch", options.batch);
    check_at_least_one("chunk", options.chunk);
    if (options.capacity == 0) options.capacity = model.max_position_embeddings;
    check_at_least_one("capacity", options.capacity);
    options.capacity = std::min(options.capacity, model.max_position_embeddings);
    const RopeConfig& rope = model.rope_parameters;
    if (model.position_embedding == PositionKind::rope && rope.type == RopeType::dynamic &&
        rope.original_max_position_embeddings > 0) {
        // Beyond it the angles of all positions would change with each token, those of cached keys too.
        options.capacity = std::min(options.capacity, rope.original_max_position_embeddings);
    }
    return options;
}

std::unique_ptr<ModelRuntime> make_runtime(const Config& config, const DecoderOptions& options) {
    SharedLayout shared;
    return std::make_unique<ModelRuntime>(decoder_plans(config, options, shared),
                                          static_cast<int>(config.runtime.threads),
                                          config.runtime.memory_limit_bytes());
}

}  // namespace

std::vector<ExecutionPlan> decoder_plans(const Config& config, const DecoderOptions& given, SharedLayout& layout) {
    const DecoderOptions options = resolved(given, config.model);
    std::vector<ExecutionPlan> plans;
    for (const PlanSize& size : plan_sizes(options)) {
        CompileOptions compiled;
        compiled.mode = size.tokens == 1 ? Mode::decode : Mode::prefill;
        compiled.batch = options.batch;
        compiled.sequence_length = size.tokens;
        compiled.cache_length = options.capacity;
        compiled.context = size.context;
        plans.push_back(compile(config, compiled, layout));
        plans.back().mode = size.name();
    }
    return plans;
}

Decoder::Decoder(const Config& config, const DecoderOptions& options)
    : Decoder(config, options, make_runtime(config, options)) {}

Decoder::Decoder(const Config& config, const DecoderOptions& options, std::unique_ptr<ModelRuntime> runtime)
    : Decoder(config, options, *runtime) {
    own_ = std::move(runtime);
}

Decoder::Decoder(const Config& config, const DecoderOptions& options, ModelRuntime& runtime)
    : options_(resolved(options, config.model)),
      vocab_size_(config.model.vocab_size),
      runtime_(&runtime),
      lengths_(static_cast<std::size_t>(options_.batch), 0) {
    for (const PlanSize& size : plan_sizes(options_)) {
        Executor& executor = runtime_->executor(size.name());
        passes_.push_back({size.tokens, size.context, &executor, executor.values<std::int32_t>("tokens"),
                           executor.values<std::int32_t>("past"), executor.values<std::int32_t>("count"),
                           executor.values<const float>("logits")});
    }
}

void Decoder::clear() { std::ranges::fill(lengths_, 0); }

/// The smallest plan that takes so many tokens and, among those, expects at least such a context.
Decoder::Pass& Decoder::pass_for(std::int64_t tokens, std::int64_t context) {
    return *std::ranges::find_if(passes_,
                                 [&](const Pass& pass) { return pass.tokens >= tokens && pass.context >= context; });
}

void Decoder::check_room(std::span<const std::span<const std::int32_t>> tokens) const {
    for (std::size_t row = 0; row < tokens.size(); ++row) {
        const auto more = static_cast<std::int64_t>(tokens[row].size());
        if (lengths_[row] + more > options_.capacity) {
            throw DataError(
                fmt::format("row {} has {} tokens in the cache and gets {} more, expected at most {} in "
                            "all: the context",
                            row, lengths_[row], more, options_.capacity));
        }
    }
}

void Decoder::feed(std::span<const std::span<const std::int32_t>> tokens) {
    if (tokens.size() != lengths_.size()) {
        throw DataError(fmt::format("found tokens for {} rows, expected {}", tokens.size(), lengths_.size()));
    }
    check_room(tokens);
    std::int64_t longest = 0;
    for (const auto& row : tokens) longest = std::max(longest, static_cast<std::int64_t>(row.size()));
    // Rows are aligned at their ends, so that the last pass has the last token of each; the first one is the short one.
    std::int64_t begin = 0;
    while (begin < longest) {
        const std::int64_t rest = (longest - begin) % options_.chunk;
        const std::int64_t end = begin + (rest > 0 ? rest : options_.chunk);
        run(tokens, longest, begin, end);
        begin = end;
    }
}

/// One pass over tokens [begin, end) of the longest row, and of the others what stands below them.
void Decoder::run(std::span<const std::span<const std::int32_t>> tokens, std::int64_t longest, std::int64_t begin,
                  std::int64_t end) {
    const std::int64_t context = *std::ranges::max_element(lengths_) + end - begin;
    Pass& pass = pass_for(end - begin, std::min(context, options_.capacity));
    for (std::size_t row = 0; row < tokens.size(); ++row) {
        const std::int64_t shift = longest - static_cast<std::int64_t>(tokens[row].size());
        const std::int64_t from = std::max<std::int64_t>(begin - shift, 0), to = std::max<std::int64_t>(end - shift, 0);
        const auto ids =
            pass.ids.subspan(row * static_cast<std::size_t>(pass.tokens), static_cast<std::size_t>(pass.tokens));
        const auto rest = std::copy(tokens[row].begin() + from, tokens[row].begin() + to, ids.begin());
        std::fill(rest, ids.end(), 0);  // any token will do: nobody sees it
        pass.past[row] = static_cast<std::int32_t>(lengths_[row]);
        pass.count[row] = static_cast<std::int32_t>(to - from);
        lengths_[row] += to - from;
    }
    pass.executor->run(Phase::step, {});
    last_ = &pass;
}

std::span<const float> Decoder::logits(std::int64_t row) const {
    return last_->logits.subspan(static_cast<std::size_t>(row * vocab_size_), static_cast<std::size_t>(vocab_size_));
}

}  // namespace causeway::infer
