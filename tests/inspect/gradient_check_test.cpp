#include "inspect/gradient_check.hpp"

#include <algorithm>
#include <cmath>

#include "inspect/random_config.hpp"
#include "inspect/tiny_config.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

/// Two of them differ in one way of composing a model; together they meet every way.
std::vector<std::pair<std::string, Config>> compositions() {
    std::vector<std::pair<std::string, Config>> found;
    const auto add = [&](const std::string& name, auto&& change) {
        Config config = tiny_config();
        config.model.num_hidden_layers = 1;
        change(config);
        found.emplace_back(name, resolved(config));
    };
    add("gpt2", [](Config&) {});
    add("two layers", [](Config& c) { c.model.num_hidden_layers = 2; });
    add("post-norm", [](Config& c) { c.model.norm_placement = NormPlacement::post; });
    add("no norm", [](Config& c) { c.model.norm = NormKind::none; });
    add("no residual", [](Config& c) { c.model.residual = false; });
    add("no residual, post-norm", [](Config& c) {
        c.model.residual = false;
        c.model.norm_placement = NormPlacement::post;
    });
    add("no mlp", [](Config& c) {
        c.model.mlp = MlpKind::none;
        c.model.intermediate_size = 0;
    });
    add("erf gelu", [](Config& c) { c.model.hidden_act = Activation::gelu; });
    add("sinusoidal", [](Config& c) { c.model.position_embedding = PositionKind::sinusoidal; });
    add("no positions", [](Config& c) { c.model.position_embedding = PositionKind::none; });
    add("untied", [](Config& c) { c.model.tie_word_embeddings = false; });
    add("untied with bias", [](Config& c) {
        c.model.tie_word_embeddings = false;
        c.model.lm_head_bias = true;
    });
    add("tied with bias", [](Config& c) { c.model.lm_head_bias = true; });
    add("no biases", [](Config& c) { c.model.attention_bias = c.model.mlp_bias = false; });
    add("explicit attention", [](Config& c) { c.runtime.attention = AttentionPath::explicit_weights; });
    add("silu", [](Config& c) { c.model.hidden_act = Activation::silu; });
    add("relu", [](Config& c) { c.model.hidden_act = Activation::relu; });
    add("rmsnorm", [](Config& c) { c.model.norm = NormKind::rmsnorm; });
    add("gated by silu", [](Config& c) {
        c.model.mlp = MlpKind::gated;
        c.model.hidden_act = Activation::silu;
    });
    add("gated by gelu", [](Config& c) { c.model.mlp = MlpKind::gated; });
    add("grouped heads of a width of their own", [](Config& c) {
        c.model.num_attention_heads = 4;
        c.model.num_key_value_heads = 2;
        c.model.head_dim = 5;
    });
    add("rope", [](Config& c) { c.model.position_embedding = PositionKind::rope; });
    add("rope, interleaved, yarn", [](Config& c) {
        c.model.position_embedding = PositionKind::rope;
        c.model.rope_parameters.interleaved = true;
        c.model.rope_parameters.type = RopeType::yarn;
        c.model.rope_parameters.factor = 4;
    });
    const auto experts = [](Config& c, std::int64_t count, std::int64_t choices, double coefficient) {
        c.model.mlp = MlpKind::gated;
        c.model.mlp_bias = false;
        c.model.num_experts = count;
        c.model.num_experts_per_tok = choices;
        c.model.router_aux_loss_coef = coefficient;
    };
    add("experts, one a token", [&](Config& c) { experts(c, 4, 1, 0.3); });
    add("experts, two a token, auxiliary loss of the whole model", [&](Config& c) {
        experts(c, 5, 2, 0.3);
        c.model.num_hidden_layers = 2;
        c.model.router_aux_loss_scope = AuxLossScope::model;
        c.train.recompute = Recompute::block;
    });
    add("experts, not normalized, no auxiliary loss", [&](Config& c) {
        experts(c, 3, 2, 0);
        c.model.norm_topk_prob = false;
    });
    add("qk_norm", [](Config& c) { c.model.qk_norm = true; });
    add("one head", [](Config& c) { c.model.num_attention_heads = 1; });
    add("not causal", [](Config& c) { c.model.causal = false; });
    add("sliding window, a scale", [](Config& c) {
        c.model.sliding_window = 3;
        c.model.attention_scale = 0.8;
    });
    add("alibi, symmetric window", [](Config& c) {
        c.model.position_embedding = PositionKind::alibi;
        c.model.causal = false;
        c.model.sliding_window = 2;
    });
    for (const AttentionPath path : {AttentionPath::tiled, AttentionPath::explicit_weights}) {
        add(path == AttentionPath::tiled ? "dropout" : "dropout, explicit attention", [path](Config& c) {
            c.model.attention_dropout = c.model.embd_pdrop = c.model.resid_pdrop = 0.3;
            c.runtime.attention = path;
        });
    }
    add("no memory reuse", [](Config& c) { c.runtime.memory_reuse = false; });
    add("attention only", [](Config& c) {
        c.model.norm = NormKind::none;
        c.model.residual = false;
        c.model.mlp = MlpKind::none;
        c.model.intermediate_size = 0;
        c.model.position_embedding = PositionKind::sinusoidal;
        c.model.tie_word_embeddings = false;
        c.model.lm_head_bias = true;
    });
    return found;
}

std::int64_t count_of(const std::vector<NamedTensor>& tensors) {
    std::int64_t count = 0;
    for (const NamedTensor& tensor : tensors) count += tensor.view.desc.stored_elements;
    return count;
}

}  // namespace

TEST_CASE("Every composition's gradients agree with central differences", "[inspect]") {
    for (const auto& [name, config] : compositions()) {
        const GradientCheck check = check_gradients(config);
        INFO(name << "\n" << gradient_check_text(check));
        CHECK(check.passed());
        for (const TensorCheck& tensor : check.tensors) CHECK(tensor.checked == tensor.elements);
    }
}

TEST_CASE("Gradients of 20 random compositions agree with central differences", "[inspect]") {
    for (std::uint64_t seed = 1000; seed < 1020; ++seed) check_random_composition(seed);
}

TEST_CASE("S1-22: gradients reach every parameter", "[inspect]") {
    for (const TensorCheck& tensor : check_gradients(resolved(tiny_config())).tensors) {
        if (tensor.name.starts_with("loss")) continue;
        INFO(tensor.name);
        CHECK(tensor.largest_gradient > 1e-4);
    }
}

TEST_CASE("One token is a context too", "[inspect]") {
    GradientCheckOptions options;
    options.batch = 1;
    options.sequence_length = 1;
    CHECK(check_gradients(resolved(tiny_config()), options).passed());
}

TEST_CASE("A vocabulary of one token, whose loss is 0, passes without 0 / 0", "[inspect]") {
    Config config = tiny_config();
    config.model.vocab_size = 1;
    const GradientCheck check = check_gradients(resolved(config));
    CHECK(check.passed());
    for (const TensorCheck& tensor : check.tensors) CHECK(std::isfinite(tensor.relative_error));
}

TEST_CASE("A spoiled gradient is found, whichever tensor it is in", "[inspect]") {
    Config config = tiny_config();
    config.model.num_hidden_layers = 1;
    config = resolved(config);
    const std::size_t tensors = GradientChecker(config).gradients().size();
    for (std::size_t i = 0; i < tensors; ++i) {
        GradientChecker checker(config);
        const NamedTensor gradient = checker.gradients()[i];
        double* data = gradient.view.as<double>();
        const std::int64_t size = gradient.view.desc.stored_elements;
        double* largest =
            std::max_element(data, data + size, [](double a, double b) { return std::abs(a) < std::abs(b); });
        *largest *= 1.001;
        const GradientCheck check = checker.compare();
        INFO(gradient.name);
        CHECK(!check.passed());
        for (const TensorCheck& tensor : check.tensors)
            CHECK(tensor.passed() == (tensor.name + ".grad" != gradient.name));
        CHECK_THAT(gradient_check_text(check), contains("FAILED at") && contains("DISAGREE"));
    }
}

TEST_CASE("A gradient that is not a number does not pass", "[inspect]") {
    GradientChecker checker(resolved(tiny_config()));
    checker.gradients()[0].view.as<double>()[3] = std::nan("");
    const GradientCheck check = checker.compare();
    CHECK(!check.passed());
}

TEST_CASE("Large models are checked by samples and a direction", "[inspect]") {
    GradientCheckOptions options;
    options.every_scalar_up_to = 100;
    options.samples = 9;
    GradientChecker checker(resolved(tiny_config()), options);
    CHECK(count_of(checker.gradients()) > 100);
    const GradientCheck check = checker.compare();
    INFO(gradient_check_text(check));
    CHECK(check.passed());
    for (const TensorCheck& tensor : check.tensors) {
        if (tensor.name.starts_with("loss")) continue;
        CHECK(tensor.checked == std::min<std::int64_t>(9, tensor.elements));
        CHECK(tensor.direction);
    }

    // The direction sees an element that no sample hits.
    for (NamedTensor& gradient : checker.gradients()) {
        if (gradient.name == "wte.weight.grad") gradient.view.as<double>()[1] += 0.5;
    }
    CHECK(!checker.compare().passed());
}
