#include "infer/generator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "data/tokens.hpp"
#include "exec/model_runtime.hpp"
#include "io/run_folder.hpp"

namespace causeway {
namespace {

constexpr std::int64_t shortest_plan = 16;  ///< below, a pass costs little more than its calls

/// 16, 32, 64, ... and the context itself.
std::vector<std::int64_t> plan_lengths(std::int64_t context) {
    std::vector<std::int64_t> lengths;
    for (std::int64_t length = shortest_plan; length < context; length *= 2) lengths.push_back(length);
    lengths.push_back(context);
    return lengths;
}

std::string mode_name(std::int64_t length) { return fmt::format("{} {}", to_string(Mode::prefill), length); }

ModelRuntime make_runtime(const Config& config, const std::vector<std::int64_t>& lengths) {
    SharedLayout shared;
    std::vector<ExecutionPlan> plans;
    for (const std::int64_t length : lengths) {
        CompileOptions options;
        options.mode = Mode::prefill;
        options.batch = 1;
        options.sequence_length = length;
        plans.push_back(compile(config, options, shared));
        plans.back().mode = mode_name(length);
    }
    return ModelRuntime(std::move(plans), static_cast<int>(config.runtime.threads),
                        config.runtime.memory_limit_bytes());
}

}  // namespace

struct Generator::Impl {
    explicit Impl(const Config& c)
        : config(c), lengths(plan_lengths(c.model.max_position_embeddings)), runtime(make_runtime(c, lengths)) {}

    /// The executor of the shortest plan that holds `count` tokens.
    Executor& executor_for(std::int64_t count) {
        return runtime.executor(mode_name(*std::lower_bound(lengths.begin(), lengths.end(), count)));
    }

    Config config;
    std::vector<std::int64_t> lengths;
    ModelRuntime runtime;
};

Generator::Generator(const Config& config) : impl_(std::make_unique<Impl>(config)) {
    if (!config.model.causal) {
        throw ConfigError(
            "model.causal: found false, expected true: a model whose tokens see what follows cannot "
            "generate");
    }
}
Generator::~Generator() = default;
Generator::Generator(Generator&&) noexcept = default;
Generator& Generator::operator=(Generator&&) noexcept = default;

Generator Generator::from_run(const std::string& folder, const std::vector<std::string>& overrides) {
    const RunFolder run{folder};
    Generator generator(load_run(run, overrides));
    load_parameters(run.parameters(), generator.parameters());
    generator.refresh();
    return generator;
}

const Config& Generator::config() const { return impl_->config; }
int Generator::threads() const { return impl_->runtime.pool().threads(); }
std::vector<NamedTensor> Generator::parameters() { return impl_->runtime.parameters(); }
void Generator::refresh() { impl_->runtime.refresh(); }

void Generator::check_prompt(std::span<const std::int32_t> ids) const {
    if (ids.empty()) throw DataError("the prompt is empty, expected at least one token");
    check_tokens(ids, impl_->config.model.vocab_size, "prompt");
}

std::span<const float> Generator::next_logits(std::span<const std::int32_t> ids) {
    check_prompt(ids);
    const auto context = static_cast<std::size_t>(impl_->config.model.max_position_embeddings);
    const std::span<const std::int32_t> window = ids.last(std::min(ids.size(), context));
    const auto count = static_cast<std::int64_t>(window.size());

    Executor& executor = impl_->executor_for(count);
    const std::span<std::int32_t> tokens = executor.values<std::int32_t>("tokens");
    // Attention is causal: what stands after the last token changes nothing before it.
    std::fill(std::copy(window.begin(), window.end(), tokens.begin()), tokens.end(), 0);
    RunArgs args;
    args.position = count - 1;
    executor.run(Phase::step, args);
    return executor.values<const float>("logits");
}

std::vector<std::int32_t> Generator::generate(std::span<const std::int32_t> prompt, const GenerationOptions& options) {
    if (options.max_new_tokens < 0) {
        throw ConfigError(
            fmt::format("max_new_tokens: found {}, expected an integer of at least 0", options.max_new_tokens));
    }
    check_prompt(prompt);
    Sampler sampler(options.sampling);
    std::vector<std::int32_t> ids(prompt.begin(), prompt.end());
    for (std::int64_t i = 0; i < options.max_new_tokens; ++i) {
        ids.push_back(sampler.next(next_logits(ids)));
        if (options.on_token && !options.on_token(ids.back())) break;
    }
    return {ids.begin() + static_cast<std::ptrdiff_t>(prompt.size()), ids.end()};
}

}  // namespace causeway
