#pragma once

#include <string>

#include "base/philox.hpp"
#include "inspect/gradient_check.hpp"
#include "inspect/tiny_config.hpp"
#include "support/catch.hpp"

/// Draws one of the compositions that a config allows, small enough to be checked scalar by scalar.
class RandomConfig {
  public:
    explicit RandomConfig(std::uint64_t seed) : random_(seed, 77) {}

    causeway::Config draw() {
        using namespace causeway;
        Config config = tiny_config();
        ModelConfig& model = config.model;
        model.hidden_size = between(3, 14);
        model.vocab_size = between(2, 23);
        model.num_hidden_layers = between(1, 2);
        draw_attention(model);
        draw_positions(model);
        model.norm = static_cast<NormKind>(between(0, 2));
        if (model.norm != NormKind::none) model.norm_placement = static_cast<NormPlacement>(between(0, 1));
        model.residual = between(0, 3) != 0;
        model.mlp = static_cast<MlpKind>(between(0, 2));
        model.hidden_act = static_cast<Activation>(between(0, 3));
        model.intermediate_size = model.mlp == MlpKind::none ? 0 : between(1, 19);
        model.mlp_bias = coin();
        if (model.mlp == MlpKind::gated && coin()) draw_experts(model);
        model.tie_word_embeddings = coin();
        model.lm_head_bias = coin();
        config.runtime.attention = coin() ? AttentionPath::tiled : AttentionPath::explicit_weights;
        config.train.recompute = static_cast<Recompute>(between(0, 2));
        return resolved(config);
    }

    std::int64_t between(std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random_.next_below(static_cast<std::uint64_t>(high - low + 1)));
    }

  private:
    bool coin() { return between(0, 1) == 1; }

    void draw_attention(causeway::ModelConfig& model) {
        model.num_key_value_heads = between(1, 3);
        model.num_attention_heads = model.num_key_value_heads * between(1, 3);
        model.head_dim = between(1, 7);
        model.attention_bias = coin();
        model.qk_norm = model.head_dim > 1 && coin();  // over one element it is a sign, which has no gradient
    }

    void draw_experts(causeway::ModelConfig& model) {
        model.mlp_bias = false;
        model.num_experts = between(1, 6);
        model.num_experts_per_tok = between(1, model.num_experts);
        model.norm_topk_prob = coin();
        model.router_aux_loss_coef = coin() ? 0.1 : 0;
        model.router_aux_loss_scope = static_cast<causeway::AuxLossScope>(between(0, 1));
    }

    void draw_positions(causeway::ModelConfig& model) {
        using namespace causeway;
        model.position_embedding = static_cast<PositionKind>(between(0, 3));
        if (model.position_embedding != PositionKind::rope) return;
        RopeConfig& rope = model.rope_parameters;
        model.head_dim = 2 * between(2, 4);
        rope.interleaved = coin();
        rope.type = static_cast<RopeType>(between(0, 4));
        if (rope.type != RopeType::unscaled) rope.factor = 4;
        if (rope.type == RopeType::dynamic || rope.type == RopeType::llama3) rope.original_max_position_embeddings = 3;
    }

    causeway::RandomStream random_;
};

/// Draws a composition and a sequence length and checks every gradient.
inline void check_random_composition(std::uint64_t seed) {
    RandomConfig random(seed);
    const causeway::Config config = random.draw();
    causeway::GradientCheckOptions options;
    options.sequence_length = random.between(1, 6);
    const causeway::GradientCheck check = causeway::check_gradients(config, options);
    INFO("seed " << seed << ", length " << options.sequence_length << "\n"
                 << to_json(config) << causeway::gradient_check_text(check));
    CHECK(check.passed());
}
