#include "inspect/kernel_check.hpp"

#include <algorithm>

#include "inspect/tiny_config.hpp"
#include "support/catch.hpp"

using namespace causeway;

TEST_CASE("Every op of every instruction set agrees with its plain-loop twin", "[inspect]") {
    Config config = tiny_config();
    config.model.hidden_size = 48;
    config.model.intermediate_size = 100;
    config.model.vocab_size = 67;
    config.model.max_position_embeddings = 33;
    config.train.sequence_length = 33;
    config = resolved(config);
    const std::vector<KernelCheck> checks = check_kernels(config, available_isas());
    REQUIRE(checks.size() == available_isas().size());
    INFO(kernel_check_text(checks));
    for (const KernelCheck& check : checks) CHECK(check.passed());
    // What a GPT-2 is made of, forward, backward and update.
    for (const char* op : {"embedding",
                           "embedding_backward",
                           "positions",
                           "positions_backward",
                           "linear",
                           "linear_input_gradient",
                           "linear_weight_gradient",
                           "attention",
                           "attention_backward",
                           "attention_explicit",
                           "attention_explicit_backward",
                           "layernorm",
                           "layernorm_backward",
                           "activation",
                           "activation_backward",
                           "add",
                           "lm_head_loss",
                           "lm_head_loss_backward",
                           "append_kv",
                           "attention_cached",
                           "take_last",
                           "square_sum",
                           "update_factors",
                           "global_norm",
                           "adamw"}) {
        INFO(op);
        const auto found = std::ranges::find(checks.back().ops, op, &OpCheck::op);
        REQUIRE(found != checks.back().ops.end());
        CHECK(found->nodes > 0);
        CHECK(!found->worst.empty());
    }
    CHECK_THAT(kernel_check_text(checks), contains("attention_explicit_backward") && contains("reference"));
}

TEST_CASE("The kernels of MiniMind's blocks agree with their plain loops", "[inspect]") {
    Config config = tiny_config();
    config.model.hidden_size = 40;
    config.model.num_attention_heads = 4;
    config.model.num_key_value_heads = 2;
    config.model.head_dim = 18;
    config.model.intermediate_size = 45;
    config.model.norm = NormKind::rmsnorm;
    config.model.qk_norm = true;
    config.model.position_embedding = PositionKind::rope;
    config.model.mlp = MlpKind::gated;
    config.model.hidden_act = Activation::silu;
    const std::vector<KernelCheck> checks = check_kernels(resolved(config), available_isas());
    INFO(kernel_check_text(checks));
    for (const KernelCheck& check : checks) CHECK(check.passed());
    for (const char* op : {"rmsnorm", "rmsnorm_backward", "qk_norm", "qk_norm_backward", "rope", "rope_backward",
                           "gated", "gated_backward"}) {
        INFO(op);
        CHECK(std::ranges::find(checks.back().ops, op, &OpCheck::op) != checks.back().ops.end());
    }
}

TEST_CASE("The kernels of experts agree with their plain loops", "[inspect]") {
    Config config = tiny_config();
    config.model.hidden_size = 40;
    config.model.num_attention_heads = 4;
    config.model.intermediate_size = 45;
    config.model.mlp = MlpKind::gated;
    config.model.mlp_bias = false;
    config.model.num_experts = 19;
    config.model.num_experts_per_tok = 3;
    config.model.router_aux_loss_coef = 0.1;
    const std::vector<KernelCheck> checks = check_kernels(resolved(config), available_isas());
    INFO(kernel_check_text(checks));
    for (const KernelCheck& check : checks) CHECK(check.passed());
    for (const char* op : {"moe_route", "moe_route_backward", "moe_gather", "moe_gather_backward", "moe_linear",
                           "moe_linear_input_gradient", "moe_linear_weight_gradient", "moe_combine",
                           "moe_combine_backward", "moe_balance", "moe_balance_backward"}) {
        INFO(op);
        CHECK(std::ranges::find(checks.back().ops, op, &OpCheck::op) != checks.back().ops.end());
    }
}

TEST_CASE("A norm over one element has a gradient of 0, and what rounding leaves of it is no error", "[inspect]") {
    Config config = tiny_config();
    config.model.hidden_size = 1;
    config.model.num_attention_heads = 1;
    const std::vector<KernelCheck> checks = check_kernels(resolved(config), available_isas());
    INFO(kernel_check_text(checks));
    for (const KernelCheck& check : checks) CHECK(check.passed());
}

TEST_CASE("An error of some roundings is found and named", "[inspect]") {
    KernelCheckOptions options;
    options.tolerance = 1e-9;  // far below what a float can hold
    const KernelCheck check = check_kernels(resolved(tiny_config()), available_isas().back(), options);
    CHECK(!check.passed());
    const auto passed = [&](const std::string& op) {
        const auto found = std::ranges::find(check.ops, op, &OpCheck::op);
        REQUIRE(found != check.ops.end());
        return found->passed();
    };
    for (const char* rounding : {"linear", "attention", "attention_backward", "layernorm", "activation",
                                 "lm_head_loss_backward", "linear_weight_gradient", "adamw"}) {
        INFO(rounding);
        CHECK(!passed(rounding));
    }
    CHECK(passed("embedding"));  // a copy
    CHECK(passed("take_last"));
    CHECK_THAT(kernel_check_text({check}), contains("FAILED") && contains("linear on"));
}

TEST_CASE("The table of kernel checks names what failed", "[inspect]") {
    KernelCheck good{Isa::reference, {{"linear", 3, 0.25, "train: y[0]"}}};
    KernelCheck bad{Isa::sse2, {{"linear", 3, 12.5, "train: y[7]"}}};
    CHECK(good.passed());
    CHECK(!bad.passed());
    CHECK(!KernelCheck{}.passed());
    CHECK(kernel_check_text({good, bad}) ==
          "largest error of each op in units of its tolerance, against plain loops in f64\n"
          "op      nodes  reference    sse2\n"
          "linear      3      0.250  12.500  FAILED\n"
          "linear on sse2 is 12.5 tolerances off in train: y[7]\n");
}
