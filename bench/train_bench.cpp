#include <memory>

#include "base/format.hpp"
#include "families.hpp"
#include "support/training_step.hpp"

namespace causeway::bench {
namespace {

/// One step: forward, backward, clipping, AdamW, repacking of the weights. MiB is all the memory of the plan.
void add_step(const char* family, const ModelSize& model) {
    const Work work{.flops = useful_flops(model), .tokens = static_cast<double>(model.batch * model.length)};
    add_case(fmt::format("{}/f32/{}", family, model.name), work, [model] {
        auto training = std::make_shared<TrainingStep>(model);
        const auto bytes = static_cast<double>(training->plan().memory.total());
        return Run([training] { training->run({Phase::step, Phase::update}); }, bytes);
    });
}

/// MiniMind's defaults: 64M parameters of RMSNorm, grouped heads with QK-norm and rotation, SwiGLU. `change` may leave
/// parts of it out, to see what they cost.
template <class Change>
void add_minimind(const std::string& name, Change change) {
    Config config;
    config.model.vocab_size = 6400;
    config.model.hidden_size = 768;
    config.model.num_hidden_layers = 8;
    config.model.num_attention_heads = 8;
    config.model.num_key_value_heads = 4;
    config.model.intermediate_size = 2432;
    config.model.max_position_embeddings = 32768;
    config.model.position_embedding = PositionKind::rope;
    config.model.rope_parameters.theta = 1e6;
    config.model.norm = NormKind::rmsnorm;
    config.model.qk_norm = true;
    config.model.mlp = MlpKind::gated;
    config.model.hidden_act = Activation::silu;
    config.model.attention_bias = config.model.mlp_bias = false;
    config.data.source = DataSource::repeat;  // no file is opened
    config.train.batch_size = 4;
    config.train.sequence_length = 128;
    config.train.learning_rate = 3e-4;
    config.train.weight_decay = 0.1;
    config.train.max_grad_norm = 1.0;
    change(config.model);
    config = resolve_config(config);
    const double parameters = 63912192, tokens = 4 * 128, pairs = 4 * 128.0 * 129 / 2;
    const Work work{.flops = 6 * parameters * tokens + 8 * 3.5 * 4 * 768 * pairs, .tokens = tokens};
    add_case("train/f32/" + name, work, [config] {
        auto training = std::make_shared<TrainingStep>(config);
        const auto bytes = static_cast<double>(training->plan().memory.total());
        return Run([training] { training->run({Phase::step, Phase::update}); }, bytes);
    });
}

/// One of the three sizes varies, the others stay as they are here.
ModelSize growing(std::int64_t length, std::int64_t width, std::int64_t layers) {
    return {fmt::format("T{}D{}L{}", length, width, layers), 65, 4, length, width, width / 32, layers, length};
}

}  // namespace

void register_train() {
    const ModelSize models[] = {
        {"gpt2-124M-B4T64", 50257, 4, 64, 768, 12, 12, 1024}, {"gpt2-124M-B1T1024", 50257, 1, 1024, 768, 12, 12, 1024},
        {"char-10M-B16T256", 65, 16, 256, 384, 6, 6, 256},    {"char-0.8M-B12T64", 65, 12, 64, 128, 4, 4, 64},
        {"tiny-32x2-B1T12", 65, 1, 12, 32, 4, 2, 64},         {"tiny-32x2-B8T12", 65, 8, 12, 32, 4, 2, 64},
    };
    for (const ModelSize& model : models) add_step("train", model);
    add_minimind("minimind-64M-B4T128", [](ModelConfig&) {});
    add_minimind("minimind-64M-B4T128-no-rope-no-qk-norm", [](ModelConfig& model) {
        model.position_embedding = PositionKind::none;
        model.rope_parameters = {};
        model.qk_norm = false;
    });
    add_minimind("minimind-moe-4x64M-B4T128", [](ModelConfig& model) {
        model.num_experts = 4;
        model.router_aux_loss_coef = 5e-4;
    });
    add_minimind("minimind-64M-B4T128-mha", [](ModelConfig& model) { model.num_key_value_heads = 8; });
}

/// Batch 4, heads of 32: the step's time against sequence length, width and depth around T128 D128 L4.
void register_train_growth() {
    for (std::int64_t length = 32; length <= 2048; length *= 2) add_step("train_growth", growing(length, 128, 4));
    for (std::int64_t width : {32, 64, 256, 512, 1024}) add_step("train_growth", growing(128, width, 4));
    for (std::int64_t layers : {1, 2, 8, 16, 32}) add_step("train_growth", growing(128, 128, layers));
}

}  // namespace causeway::bench
