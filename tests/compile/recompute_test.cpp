#include <algorithm>
#include <array>

#include "compile/compile.hpp"
#include "compile/passes.hpp"
#include "model/causal_lm.hpp"
#include "ops/ops.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

constexpr std::array<Recompute, 3> choices{Recompute::none, Recompute::attention_free, Recompute::block};

/// Four narrow blocks on sequences long enough for attention to count.
Config deep_model(const std::string& more = "") {
    return parse_config(R"({"model": {"num_hidden_layers": 4, "hidden_size": 24, "num_attention_heads": 3,
                                      "vocab_size": 67, "max_position_embeddings": 64)" +
                            more + R"(}, "data": {"source": "repeat"}, "train": {"batch_size": 2}})",
                        "test");
}

Graph differentiated(const Config& config, AttentionPath attention = AttentionPath::tiled) {
    CausalLmOptions options;
    options.batch = config.train.batch_size;
    options.sequence_length = config.train.sequence_length;
    options.attention = attention;
    return emit_backward(build_causal_lm(config.model, options), "loss");
}

std::ptrdiff_t count(const Graph& graph, const OpDef& op) { return std::ranges::count(graph.nodes(), &op, &Node::op); }

bool is_recomputed(const std::string& name) { return name.find(".recomputed") != std::string::npos; }

/// Names of the values from before the loss that nodes after it read, parameters and inputs aside: what is kept.
std::vector<std::string> kept_values(const Graph& graph) {
    std::vector<std::string> kept;
    bool forward = true;
    std::vector<bool> made_in_forward(graph.values().size());
    for (const Node& node : graph.nodes()) {
        if (!forward) {
            for (ValueId input : node.inputs) {
                if (input && made_in_forward[static_cast<std::size_t>(input.index)])
                    kept.push_back(graph.value(input).name);
            }
        }
        for (ValueId output : node.outputs) made_in_forward[static_cast<std::size_t>(output.index)] = forward;
        forward = forward && node.op != &ops::lm_head_loss();
    }
    std::ranges::sort(kept);
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    return kept;
}

std::vector<std::string> kept_of_block(const Graph& graph, const std::string& block) {
    std::vector<std::string> kept = kept_values(graph);
    std::erase_if(kept, [&](const std::string& name) { return name.rfind(block, 0) != 0; });
    return kept;
}

ExecutionPlan plan_with(Config config, Recompute choice) {
    config.train.recompute = choice;
    SharedLayout shared;
    return compile(config, {}, shared);
}

std::int64_t scratch(const ExecutionPlan& plan) {
    return plan.memory.region_bytes[static_cast<std::size_t>(Region::scratch)];
}

}  // namespace

TEST_CASE("Without recomputation the graph is what it was") {
    const Graph graph = differentiated(deep_model());
    const Graph same = recompute(graph, Recompute::none);
    CHECK(same.nodes().size() == graph.nodes().size());
    CHECK(std::ranges::none_of(same.values(), [](const Value& value) { return is_recomputed(value.name); }));
}

TEST_CASE("Recomputed by block, of a block only its input is kept") {
    for (const AttentionPath attention : {AttentionPath::tiled, AttentionPath::explicit_weights}) {
        const Graph graph = recompute(differentiated(deep_model(), attention), Recompute::block);
        CHECK_NOTHROW(verify(graph));
        // The MLP's sum, with which the block ends, is the next one's input.
        CHECK(kept_of_block(graph, "h.1.") == std::vector<std::string>{"h.1.mlp.proj.residual"});
        CHECK(count(graph, ops::attention()) + count(graph, ops::attention_explicit()) == 2 * 4);
        CHECK(count(graph, ops::activation()) == 2 * 4);
        CHECK(count(graph, ops::linear()) == 4 * 4 + 3 * 4);  // nobody reads the second product of the MLP
    }
}

TEST_CASE("Recomputed attention-free, what attention reads and makes is kept as well") {
    const Graph graph = recompute(differentiated(deep_model()), Recompute::attention_free);
    CHECK_NOTHROW(verify(graph));
    CHECK(kept_of_block(graph, "h.1.") ==
          std::vector<std::string>{"h.1.attn.heads", "h.1.attn.heads.lse", "h.1.attn.qkv", "h.1.mlp.proj.residual"});
    CHECK(count(graph, ops::attention()) == 4);
    CHECK(count(graph, ops::linear()) == 4 * 4 + 2 * 4);
    const Graph weights =
        recompute(differentiated(deep_model(), AttentionPath::explicit_weights), Recompute::attention_free);
    CHECK(kept_of_block(weights, "h.1.") == std::vector<std::string>{"h.1.attn.heads", "h.1.attn.heads.weights",
                                                                     "h.1.attn.qkv", "h.1.mlp.proj.residual"});
}

TEST_CASE("Of a norm that ends a block, the row's mean and rstd stay with its output") {
    const Graph graph = recompute(differentiated(deep_model(R"(, "norm_placement": "post")")), Recompute::block);
    CHECK_NOTHROW(verify(graph));
    CHECK(kept_of_block(graph, "h.1.") == std::vector<std::string>{"h.1.ln_2", "h.1.ln_2.mean", "h.1.ln_2.rstd"});
}

TEST_CASE("A block is recomputed right before its backward, not earlier") {
    const Graph graph = recompute(differentiated(deep_model()), Recompute::block);
    std::vector<std::string> order;  // blocks in the order their second copies and products come
    for (const Node& node : graph.nodes()) {
        const bool backward = node.name.find("_gradient") != std::string::npos;
        if (!is_recomputed(node.name) && !backward) continue;
        const std::string block = node.name.substr(0, node.name.find('.', 2)) + (backward ? " backward" : " again");
        if (node.name.rfind("h.", 0) == 0 && (order.empty() || order.back() != block)) order.push_back(block);
    }
    const std::vector<std::string> expected{"h.3 again", "h.3 backward", "h.2 again", "h.2 backward",
                                            "h.1 again", "h.1 backward", "h.0 again", "h.0 backward"};
    CHECK(order == expected);
}

TEST_CASE("Recomputation takes less memory and more FLOPs, the more so the more is recomputed") {
    for (const char* more : {"", R"(, "norm_placement": "post")", R"(, "residual": false)", R"(, "norm": "none")"}) {
        INFO(more);
        const ExecutionPlan none = plan_with(deep_model(more), Recompute::none);
        const ExecutionPlan attention_free = plan_with(deep_model(more), Recompute::attention_free);
        const ExecutionPlan block = plan_with(deep_model(more), Recompute::block);
        CHECK(scratch(attention_free) < scratch(none) * 3 / 4);
        CHECK(scratch(block) < scratch(attention_free));
        CHECK(none.flops(Phase::step) < attention_free.flops(Phase::step));
        CHECK(attention_free.flops(Phase::step) < block.flops(Phase::step));
        // Forward is a third of a step, and the head is never recomputed.
        CHECK(block.flops(Phase::step) < none.flops(Phase::step) * 4 / 3);
    }
}

TEST_CASE("Parameters, gradients and moments lie where they lay, whatever is recomputed") {
    const ExecutionPlan none = plan_with(deep_model(), Recompute::none);
    for (const Recompute choice : choices) {
        const ExecutionPlan plan = plan_with(deep_model(), choice);
        for (const Role role : {Role::parameter, Role::gradient, Role::state}) {
            const std::vector<std::int32_t> expected = none.with_role(role), found = plan.with_role(role);
            REQUIRE(found.size() == expected.size());
            for (std::size_t i = 0; i < found.size(); ++i) {
                const PlannedValue& a = none.values[static_cast<std::size_t>(expected[i])];
                const PlannedValue& b = plan.values[static_cast<std::size_t>(found[i])];
                CHECK(a.name == b.name);
                CHECK(a.place.offset == b.place.offset);
            }
        }
    }
}
