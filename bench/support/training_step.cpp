#include "support/training_step.hpp"

#include "compile/compile.hpp"

namespace causeway::bench {
namespace {

Config config_of(const ModelSize& model) {
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

std::vector<ExecutionPlan> plans_of(const Config& config) {
    SharedLayout shared;
    std::vector<ExecutionPlan> plans;
    plans.push_back(compile(config, {}, shared));
    return plans;
}

}  // namespace

double useful_flops(const ModelSize& m) {
    const double tokens = static_cast<double>(m.batch * m.length), width = static_cast<double>(m.width);
    const double layers = static_cast<double>(m.layers), length = static_cast<double>(m.length);
    const double body = layers * (12 * width * width + 13 * width) + 2 * width + static_cast<double>(m.vocab) * width;
    return 6 * body * tokens + layers * 3.5 * 4 * width * static_cast<double>(m.batch) * length * (length + 1) / 2;
}

double packed_bytes(const ModelSize& model) {
    const ExecutionPlan plan = std::move(plans_of(config_of(model)).front());
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < plan.values.size(); ++i) {
        const PlannedValue& value = plan.values[i];
        const bool own_storage = value.storage == static_cast<std::int32_t>(i);
        if (value.role == Role::packed && own_storage) bytes += value.desc.bytes();
    }
    return static_cast<double>(bytes);
}

TrainingStep::TrainingStep(const ModelSize& model) : TrainingStep(config_of(model)) {}

TrainingStep::TrainingStep(const Config& config) : runtime_(plans_of(config), setup().threads) {
    runtime_.initialize(1);
}

void TrainingStep::fill_batch() {
    const auto tokens = executor().values<std::int32_t>("tokens"), targets = executor().values<std::int32_t>("targets");
    const std::int64_t vocab = plan().value("wte.weight").desc.shape[0];
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        tokens[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) * 7919 % vocab);
        targets[i] = static_cast<std::int32_t>(static_cast<std::int64_t>(i) * 104729 % vocab);
    }
}

void TrainingStep::run(std::initializer_list<Phase> phases) {
    fill_batch();
    RunArgs args;
    args.step = ++step_;
    args.learning_rate = 3e-4;
    args.valid_tokens = static_cast<double>(executor().values<std::int32_t>("targets").size());
    for (const Phase phase : phases) executor().run(phase, args);
}

}  // namespace causeway::bench
