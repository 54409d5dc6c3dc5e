#include <fmt/format.h>

#include <memory>

#include "compile/compile.hpp"
#include "exec/model_runtime.hpp"
#include "families.hpp"
#include "support/bench.hpp"

namespace causeway::bench {
namespace {

/// A GPT-2 of some size and its batch.
struct Model {
    const char* name;
    std::int64_t vocab, batch, length, width, heads, layers, context;
};

constexpr Model models[] = {
    {"gpt2-124M-B4T64", 50257, 4, 64, 768, 12, 12, 1024}, {"gpt2-124M-B1T1024", 50257, 1, 1024, 768, 12, 12, 1024},
    {"char-10M-B16T256", 65, 16, 256, 384, 6, 6, 256},    {"char-0.8M-B12T64", 65, 12, 64, 128, 4, 4, 64},
    {"tiny-32x2-B1T12", 65, 1, 12, 32, 4, 2, 64},         {"tiny-32x2-B8T12", 65, 8, 12, 32, 4, 2, 64},
};

Config config_of(const Model& model) {
    Config config;
    config.model.vocab_size = model.vocab;
    config.model.hidden_size = model.width;
    config.model.num_hidden_layers = model.layers;
    config.model.num_attention_heads = model.heads;
    config.model.max_position_embeddings = model.context;
    config.data.source = DataSource::repeat;  // no file is opened: the batch is made here
    config.train.batch_size = model.batch;
    config.train.sequence_length = model.length;
    config.train.learning_rate = 3e-4;
    config.train.weight_decay = 0.1;
    config.train.max_grad_norm = 1.0;
    return resolve_config(config);
}

/// 6 FLOPs a parameter of a matrix product and token, and attention's causal products, forward and backward.
double useful_flops(const Model& m) {
    const double tokens = static_cast<double>(m.batch * m.length), width = static_cast<double>(m.width);
    const double layers = static_cast<double>(m.layers), length = static_cast<double>(m.length);
    const double body = layers * (12 * width * width + 13 * width) + 2 * width + static_cast<double>(m.vocab) * width;
    return 6 * body * tokens + layers * 3.5 * 4 * width * static_cast<double>(m.batch) * length * (length + 1) / 2;
}

/// One step: forward, backward, clipping, AdamW, repacking of the weights.
Run make_step(const Model& model) {
    const Config config = config_of(model);
    SharedLayout shared;
    std::vector<ExecutionPlan> plans;
    plans.push_back(compile(config, {}, shared));
    const auto runtime = std::make_shared<ModelRuntime>(std::move(plans), setup().threads);
    runtime->initialize(1);
    std::int64_t step = 0;
    return [runtime, step]() mutable {
        Executor& executor = runtime->executor("train");
        const auto tokens = executor.values<std::int32_t>("tokens"), targets = executor.values<std::int32_t>("targets");
        const std::int64_t vocab = executor.plan().value("wte.weight").desc.shape[0];
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            tokens[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) * 7919 % vocab);
            targets[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) * 104729 % vocab);
        }
        RunArgs args;
        args.step = ++step;
        args.learning_rate = 3e-4;
        args.valid_tokens = static_cast<double>(targets.size());
        for (Phase phase : {Phase::step, Phase::update, Phase::pack}) executor.run(phase, args);
    };
}

}  // namespace

void register_train() {
    for (const Model& model : models) {
        add_case(fmt::format("train/f32/{}", model.name), {.flops = useful_flops(model)},
                 [&model] { return make_step(model); });
    }
}

}  // namespace causeway::bench
