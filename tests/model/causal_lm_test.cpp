#include "model/causal_lm.hpp"

#include <cmath>
#include <string>

#include "graph/op_def.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

Config config_of(const std::string& model) { return parse_config("{\"model\": " + model + "}", "test"); }

Graph build(const ModelConfig& model, std::int64_t batch = 2, std::int64_t length = 4) {
    CausalLmOptions options;
    options.batch = batch;
    options.sequence_length = length;
    return build_causal_lm(model, options);
}

std::int64_t parameters(const Graph& graph) {
    std::int64_t count = 0;
    for (ValueId id : graph.with_role(Role::parameter)) count += graph.shape(id).elements();
    return count;
}

}  // namespace

TEST_CASE("S1-17: the attention-only model has 8,384 parameters") {
    const Config config = load_config(CAUSEWAY_SOURCE_DIR "/configs/repeat_h4.json");
    CHECK(parameters(build(config.model)) == 8384);
}

TEST_CASE("S1-02..05 the fused QKV is one tensor (3D, D) with bias beside the output projection") {
    const Config config = load_config(CAUSEWAY_SOURCE_DIR "/configs/repeat_h4.json");
    const Graph graph = build(config.model);
    CHECK(graph.shape(graph.find("h.0.attn.qkv.weight")) == Shape({96, 32}));
    CHECK(graph.shape(graph.find("h.0.attn.qkv.bias")) == Shape({96}));
    CHECK(graph.shape(graph.find("h.0.attn.proj.weight")) == Shape({32, 32}));
    std::string names;
    for (ValueId id : graph.with_role(Role::parameter)) names += graph.value(id).name + " ";
    CHECK(names ==
          "wte.weight h.0.attn.qkv.weight h.0.attn.qkv.bias h.0.attn.proj.weight h.0.attn.proj.bias lm_head.weight "
          "lm_head.bias ");
}

TEST_CASE("S1-25,26 the byte model of the King James Bible has 834,304 parameters, GPT-2 124,439,808") {
    CHECK(parameters(build(load_config(CAUSEWAY_SOURCE_DIR "/configs/kjv_bytes.json").model)) == 834304);
    CHECK(parameters(build(load_config(CAUSEWAY_SOURCE_DIR "/configs/gpt2_124m.json").model)) == 124439808);
}

TEST_CASE("S3-23: MiniMind's defaults have 63,912,192 parameters, Qwen3 0.6B 596,049,920") {
    CHECK(parameters(build(load_config(CAUSEWAY_SOURCE_DIR "/configs/minimind.json").model)) == 63912192);
    CHECK(parameters(build(load_config(CAUSEWAY_SOURCE_DIR "/configs/qwen3_0.6b.json").model)) == 596049920);
    CHECK(parameters(build(load_config(CAUSEWAY_SOURCE_DIR "/configs/llama_tiny.json").model)) == 771200);
}

TEST_CASE("A MiniMind block reads norm, qkv, QK-norm, rotation, attention, norm, gated MLP") {
    const Graph graph = build(load_config(CAUSEWAY_SOURCE_DIR "/configs/minimind.json").model);
    std::string ops;
    for (const Node& node : graph.nodes()) {
        if (node.name.starts_with("h.0.")) ops += std::string(node.op->name) + " ";
    }
    CHECK(ops == "rmsnorm linear qk_norm rope attention linear add rmsnorm linear gated linear add ");
    CHECK(graph.shape(graph.find("h.0.attn.qkv.weight")) == Shape({16 * 96, 768}));
    CHECK(graph.shape(graph.find("h.0.attn.q_norm.weight")) == Shape({96}));
    CHECK(graph.shape(graph.find("h.0.attn.k_norm.weight")) == Shape({96}));
    CHECK(graph.shape(graph.find("h.0.mlp.gate_up.weight")) == Shape({2 * 2432, 768}));
    CHECK(graph.shape(graph.find("h.0.mlp.proj.weight")) == Shape({768, 2432}));
    CHECK(graph.shape(graph.find("rope")) == Shape({32768, 96}));
    CHECK_FALSE(graph.find("h.0.ln_1.bias"));
    CHECK_FALSE(graph.find("h.0.mlp.gate_up.bias"));
}

TEST_CASE("S3-23: MiniMind's experts: 4 of a block, one a token, router and stacked weights") {
    const Graph graph = build(load_config(CAUSEWAY_SOURCE_DIR "/configs/minimind_moe.json").model);
    std::string ops;
    for (const Node& node : graph.nodes()) {
        if (node.name.starts_with("h.0.mlp")) ops += std::string(node.op->name) + " ";
    }
    CHECK(ops == "linear moe_route moe_gather moe_linear gated moe_linear moe_combine add ");
    CHECK(graph.shape(graph.find("h.0.mlp.router.weight")) == Shape({4, 768}));
    CHECK(graph.shape(graph.find("h.0.mlp.experts.gate_up.weight")) == Shape({4, 2 * 2432, 768}));
    CHECK(graph.shape(graph.find("h.0.mlp.experts.down.weight")) == Shape({4, 768, 2432}));
    CHECK(parameters(graph) == 63912192 + 8 * (3 * 3 * 768 * 2432 + 4 * 768));
    CHECK_FALSE(graph.find("aux_loss"));
}

TEST_CASE("B53: a head_dim of its own: q 64x40, k and v 32x40, output 40x64, scale 1/4") {
    const Config config = config_of(R"({"hidden_size": 40, "num_attention_heads": 4, "num_key_value_heads": 2,
                                        "head_dim": 16})");
    const Graph graph = build(config.model);
    CHECK(graph.shape(graph.find("h.0.attn.qkv.weight")) == Shape({64 + 32 + 32, 40}));
    CHECK(graph.shape(graph.find("h.0.attn.proj.weight")) == Shape({40, 64}));
    const Node& attention = graph.node(graph.value(graph.find("h.0.attn.heads")).producer);
    CHECK(attention.attributes.get<double>("scale") == 0.25);
}

TEST_CASE("S1-26: with init gpt2 the projections into the residual stream start smaller, with normal they do not") {
    const auto scale = [](const Graph& graph, const char* name) {
        return graph.value(graph.find(name)).initializer.scale;
    };
    const Graph gpt2 = build(load_config(CAUSEWAY_SOURCE_DIR "/configs/gpt2_124m.json").model);
    CHECK(scale(gpt2, "h.3.mlp.fc.weight") == 0.02);
    CHECK(scale(gpt2, "h.3.mlp.proj.weight") == Approx(0.02 / std::sqrt(24.0)));
    CHECK(scale(gpt2, "h.3.attn.proj.weight") == Approx(0.02 / std::sqrt(24.0)));
    const Graph qwen3 = build(load_config(CAUSEWAY_SOURCE_DIR "/configs/qwen3_0.6b.json").model);
    CHECK(scale(qwen3, "h.3.mlp.gate_up.weight") == 0.02);
    CHECK(scale(qwen3, "h.3.mlp.proj.weight") == 0.02);
    CHECK(scale(qwen3, "h.3.attn.proj.weight") == 0.02);
}

TEST_CASE("A tied head has no weight of its own (B35)") {
    const Graph tied = build(config_of(R"({"tie_word_embeddings": true})").model);
    CHECK_FALSE(tied.find("lm_head.weight"));
    const Graph untied = build(config_of(R"({"tie_word_embeddings": false, "lm_head_bias": true})").model);
    CHECK(untied.find("lm_head.weight"));
    CHECK(untied.find("lm_head.bias"));
    CHECK(parameters(untied) - parameters(tied) == 256 * 128 + 256);
}

TEST_CASE("Post-norm models have no final norm, pre-norm ones do") {
    CHECK(build(config_of(R"({"norm_placement": "pre"})").model).find("ln_f.weight"));
    CHECK_FALSE(build(config_of(R"({"norm_placement": "post"})").model).find("ln_f.weight"));
}

TEST_CASE("Positions are learned, sinusoidal (no parameter) or absent") {
    CHECK(build(config_of(R"({"position_embedding": "learned"})").model).find("wpe.weight"));
    const Graph sinusoidal = build(config_of(R"({"position_embedding": "sinusoidal"})").model);
    CHECK_FALSE(sinusoidal.find("wpe.weight"));
    CHECK(sinusoidal.value(sinusoidal.find("sinusoidal")).role == Role::constant);
    const Graph none = build(config_of(R"({"position_embedding": "none"})").model);
    CHECK_FALSE(none.find("positions"));
}

TEST_CASE("S1-11,12 more positions than the model has are refused") {
    ModelConfig model = config_of(R"({"max_position_embeddings": 8})").model;
    CHECK_NOTHROW(build(model, 1, 8));
    CHECK_THROWS_WITH(build(model, 1, 9), contains("9 positions are asked for, the table has 8"));
}
