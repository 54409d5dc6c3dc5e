#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "ops/ops.hpp"

namespace causeway::test {

/// The sizes of an op case: odd on purpose, one token, and more than a tile.
struct CaseSize {
    std::int64_t batch, length, heads, head_dim, vocab;
    std::int64_t dim() const { return heads * head_dim; }
};

/// Builds forward graphs that put one operation between an embedding and a loss, so that its gradient reaches
/// parameters on both sides of it.
class OpGraph {
  public:
    OpGraph(const CaseSize& size, DType dtype) : size_(size), dtype_(dtype) {
        tokens_ = input("tokens");
        table_ = parameter("table", {size.vocab, size.dim()});
        x_ = graph_.emit(ops::embedding(), "embedding", {tokens_, table_});
    }

    ValueId x() const { return x_; }
    Graph& graph() { return graph_; }
    const CaseSize& size() const { return size_; }

    ValueId parameter(const std::string& name, const Shape& shape) {
        Value value;
        value.name = name;
        value.desc = {dtype_, shape};
        value.role = Role::parameter;
        value.trainable = true;
        value.initializer = {Initializer::Kind::uniform, 0.8};
        return graph_.add_value(std::move(value));
    }

    /// Values "mask" (T,T) and "key_mask" (B,T), which the tests fill.
    ValueId mask() { return input("mask", {DType::u8, {size_.length, size_.length}}); }
    ValueId key_mask() { return input("key_mask", {DType::i32, {size_.batch, size_.length}}); }

    ValueId linear(const std::string& name, ValueId x, std::int64_t out, bool bias = true) {
        const ValueId weight = parameter(name + ".weight", {out, graph_.shape(x).back()});
        const ValueId b = bias ? parameter(name + ".bias", {out}) : ValueId{};
        return graph_.emit(ops::linear(), name, {x, weight, b}, {{"activation", std::string("none")}});
    }

    /// The cosines and sines of a few positions.
    ValueId rope_table(std::int64_t positions, std::int64_t head_dim) {
        Value value;
        value.name = "rope";
        value.desc = {dtype_, {positions, head_dim}};
        value.role = Role::constant;
        value.initializer = {Initializer::Kind::rope, 1.25, {}};
        for (std::int64_t i = 0; i < head_dim / 2; ++i) {
            value.initializer.frequencies.push_back(1 / static_cast<double>(1 + i));
        }
        return graph_.add_value(std::move(value));
    }

    /// Ends the graph: tied or separate head on y.
    Graph finish(ValueId y, bool tied, bool bias) {
        const ValueId weight = tied ? table_ : parameter("head.weight", {size_.vocab, graph_.shape(y).back()});
        const ValueId b = bias ? parameter("head.bias", {size_.vocab}) : ValueId{};
        graph_.emit(ops::lm_head_loss(), "loss", {y, weight, b, input("targets")});
        return std::move(graph_);
    }

    ValueId input(const std::string& name, const TensorDesc& desc) {
        Value value;
        value.name = name;
        value.desc = desc;
        value.role = Role::input;
        return graph_.add_value(std::move(value));
    }

  private:
    ValueId input(const std::string& name) { return input(name, {DType::i32, {size_.batch, size_.length}}); }

    CaseSize size_;
    DType dtype_;
    Graph graph_;
    ValueId tokens_, table_, x_;
};

/// One operation under test; adding an op to the table tests its gradient and every instruction set.
struct OpCase {
    std::string name;
    std::function<Graph(OpGraph&)> build;
};

inline Attributes attention_attributes(const CaseSize& size, bool causal) {
    return {{"heads", size.heads},
            {"kv_heads", size.heads},
            {"head_dim", size.head_dim},
            {"scale", 0.7},
            {"causal", causal}};
}

inline Attributes rope_attributes(std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim, bool interleaved) {
    return {{"heads", heads}, {"kv_heads", kv_heads}, {"head_dim", head_dim}, {"interleaved", interleaved}};
}

/// A fused qkv of twice as many query heads as the case has, which share its heads of keys and values.
inline ValueId grouped_qkv(OpGraph& g, std::int64_t head_dim) {
    return g.linear("qkv", g.x(), 4 * g.size().heads * head_dim);
}

/// Gated MLPs of the embedding's width, `choices` of which a router picks for each token.
inline Graph experts_graph(OpGraph& g, std::int64_t experts, std::int64_t choices, bool normalize) {
    const std::int64_t dim = g.size().dim(), inner = 3;
    Graph& graph = g.graph();
    const ValueId logits = g.linear("router", g.x(), experts, false);
    const NodeId id = graph.add_node(ops::moe_route(), "route", {logits},
                                     {{"choices", choices}, {"normalize", normalize}, {"score_sums", false}});
    const std::vector<ValueId> route = graph.node(id).outputs;
    const ValueId weights = route[0], offsets = route[2], order = route[3], slots = route[4];
    const ValueId gate_up = g.parameter("gate_up", {experts, 2 * inner, dim});
    const ValueId down = g.parameter("down", {experts, dim, inner});
    ValueId h = graph.emit(ops::moe_gather(), "rows", {g.x(), order, slots});
    h = graph.emit(ops::moe_linear(), "gate_up.y", {h, gate_up, offsets});
    h = graph.emit(ops::gated(), "gated", {h}, {{"activation", std::string("silu")}});
    h = graph.emit(ops::moe_linear(), "down.y", {h, down, offsets});
    return g.finish(graph.emit(ops::moe_combine(), "combine", {h, weights, order, slots}), false, false);
}

/// Attention with everything it can do beside the causal mask, two query heads to a key head.
inline Attributes attention_variant(const CaseSize& size, bool causal) {
    return {{"heads", 2 * size.heads},
            {"kv_heads", size.heads},
            {"head_dim", size.head_dim},
            {"scale", 0.7},
            {"causal", causal},
            {"window", std::int64_t{3}},
            {"alibi", true},
            {"dropout", 0.3},
            {"site", std::int64_t{5}}};
}

inline std::vector<OpCase> op_cases() {
    const auto variant = [](const OpDef& op, bool causal) {
        return [&op, causal](OpGraph& g) {
            const ValueId qkv = g.linear("qkv", g.x(), 4 * g.size().dim());
            const ValueId mask = g.mask(), key_mask = g.key_mask();
            return g.finish(g.graph().emit(op, "attention", {qkv, mask, key_mask}, attention_variant(g.size(), causal)),
                            false, false);
        };
    };
    const auto experts = [](std::int64_t count, std::int64_t choices, bool normalize) {
        return [=](OpGraph& g) { return experts_graph(g, count, choices, normalize); };
    };
    const auto grouped_attention = [](const OpDef& op) {
        return [&op](OpGraph& g) {
            Attributes attributes = attention_attributes(g.size(), true);
            attributes.set("heads", 2 * g.size().heads);
            const ValueId qkv = grouped_qkv(g, g.size().head_dim);
            return g.finish(g.graph().emit(op, "attention", {qkv}, attributes), false, false);
        };
    };
    const auto rope = [](bool interleaved) {
        return [interleaved](OpGraph& g) {
            const std::int64_t heads = g.size().heads, dim = 2 * g.size().head_dim;
            const ValueId qkv = grouped_qkv(g, dim);
            const ValueId y = g.graph().emit(ops::rope(), "rope", {qkv, g.rope_table(g.size().length + 2, dim)},
                                             rope_attributes(2 * heads, heads, dim, interleaved));
            return g.finish(y, false, false);
        };
    };
    const auto gated = [](const char* kind) {
        return [kind](OpGraph& g) {
            const ValueId gate_up = g.linear("gate_up", g.x(), 2 * g.size().dim());
            return g.finish(g.graph().emit(ops::gated(), "gated", {gate_up}, {{"activation", std::string(kind)}}),
                            false, true);
        };
    };
    const auto attention = [](const OpDef& op, bool causal) {
        return [&op, causal](OpGraph& g) {
            const ValueId qkv = g.linear("qkv", g.x(), 3 * g.size().dim());
            return g.finish(g.graph().emit(op, "attention", {qkv}, attention_attributes(g.size(), causal)), false,
                            false);
        };
    };
    const auto activation = [](const char* kind) {
        return [kind](OpGraph& g) {
            return g.finish(
                g.graph().emit(ops::activation(), "activation", {g.x()}, {{"activation", std::string(kind)}}), false,
                true);
        };
    };
    return {
        {"embedding and head", [](OpGraph& g) { return g.finish(g.x(), false, true); }},
        {"tied embedding and head", [](OpGraph& g) { return g.finish(g.x(), true, false); }},
        {"positions",
         [](OpGraph& g) {
             const ValueId table = g.parameter("positions.weight", {g.size().length + 3, g.size().dim()});
             return g.finish(g.graph().emit(ops::positions(), "positions", {g.x(), table}), false, false);
         }},
        {"linear", [](OpGraph& g) { return g.finish(g.linear("linear", g.x(), 7), false, false); }},
        {"linear without bias",
         [](OpGraph& g) { return g.finish(g.linear("linear", g.x(), 33, false), false, false); }},
        {"layernorm",
         [](OpGraph& g) {
             const ValueId w = g.parameter("w", {g.size().dim()}), b = g.parameter("b", {g.size().dim()});
             return g.finish(g.graph().emit(ops::layernorm(), "norm", {g.x(), w, b}, {{"eps", 1e-5}}), false, false);
         }},
        {"gelu (erf)", activation("gelu")},
        {"gelu (tanh)", activation("gelu_new")},
        {"silu", activation("silu")},
        {"gated by silu", gated("silu")},
        {"gated by gelu", gated("gelu")},
        {"experts, one of five", experts(5, 1, false)},
        {"experts, one of four, normalized", experts(4, 1, true)},
        {"experts, two of five, normalized", experts(5, 2, true)},
        {"experts, all three", experts(3, 3, true)},
        {"experts, the only one", experts(1, 1, false)},
        {"rmsnorm",
         [](OpGraph& g) {
             const ValueId w = g.parameter("w", {g.size().dim()});
             return g.finish(g.graph().emit(ops::rmsnorm(), "norm", {g.x(), w}, {{"eps", 1e-6}}), false, false);
         }},
        {"qk_norm",
         [](OpGraph& g) {
             const std::int64_t heads = g.size().heads, dim = g.size().head_dim;
             const ValueId q = g.parameter("q.weight", {dim}), k = g.parameter("k.weight", {dim});
             const ValueId y =
                 g.graph().emit(ops::qk_norm(), "norm", {grouped_qkv(g, dim), q, k},
                                {{"heads", 2 * heads}, {"kv_heads", heads}, {"head_dim", dim}, {"eps", 1e-2}});
             return g.finish(y, false, false);
         }},
        {"rope", rope(false)},
        {"rope, interleaved", rope(true)},
        {"softmax",
         [](OpGraph& g) { return g.finish(g.graph().emit(ops::softmax(), "softmax", {g.x()}), false, false); }},
        {"add, both sides of one value",
         [](OpGraph& g) {
             const ValueId y = g.linear("linear", g.x(), g.size().dim());
             return g.finish(g.graph().emit(ops::add(), "sum", {g.x(), y}), false, false);
         }},
        {"attention", attention(ops::attention(), true)},
        {"attention, not causal", attention(ops::attention(), false)},
        {"attention, grouped heads", grouped_attention(ops::attention())},
        {"explicit attention, grouped heads", grouped_attention(ops::attention_explicit())},
        {"explicit attention", attention(ops::attention_explicit(), true)},
        {"explicit attention, not causal", attention(ops::attention_explicit(), false)},
        {"attention variant", variant(ops::attention(), true)},
        {"attention variant, not causal", variant(ops::attention(), false)},
        {"explicit attention variant", variant(ops::attention_explicit(), true)},
        {"explicit attention variant, not causal", variant(ops::attention_explicit(), false)},
        {"dropout",
         [](OpGraph& g) {
             const Attributes attributes{{"rate", 0.4}, {"site", std::int64_t{2}}};
             return g.finish(g.graph().emit(ops::dropout(), "dropout", {g.x()}, attributes), false, false);
         }},
    };
}

}  // namespace causeway::test
