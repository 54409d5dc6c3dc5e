#include <optional>

#include "compile/graph_rewriter.hpp"
#include "compile/passes.hpp"
#include "ops/ops.hpp"

namespace causeway {
namespace {

/// The linear node whose result `id` is and that has no epilogue yet; null otherwise.
const Node* plain_linear(const Graph& graph, ValueId id) {
    const NodeId producer = graph.value(id).producer;
    if (!producer) return nullptr;
    const Node& node = graph.node(producer);
    const bool plain = node.op == &ops::linear() && node.attributes.get<std::string>("activation") == "none" &&
                       !node.input(ops::linear_residual_input) && graph.value(id).role == Role::activation;
    return plain ? &node : nullptr;
}

/// A linear node and the node that can become its epilogue.
struct Match {
    const Node* linear = nullptr;
    ValueId residual;  ///< the other operand of an add
};

std::optional<Match> match_epilogue(const Graph& graph, const Node& node, const std::vector<int>& uses) {
    if (node.op == &ops::activation()) {
        const Node* linear = plain_linear(graph, node.input(0));
        return linear == nullptr ? std::nullopt : std::optional(Match{linear, {}});
    }
    if (node.op != &ops::add()) return std::nullopt;
    for (std::size_t side : {1u, 0u}) {
        const ValueId sum = node.input(side), residual = node.input(1 - side);
        const Node* linear = plain_linear(graph, sum);
        if (linear != nullptr && uses[static_cast<std::size_t>(sum.index)] == 1) return Match{linear, residual};
    }
    return std::nullopt;
}

/// Appends the fused node in place of `node`, the activation or add.
void emit_fused(GraphRewriter& rewriter, const Node& node, const Match& match, bool keeps_pre_activation) {
    Node fused = rewriter.translate(*match.linear);
    fused.inputs.resize(ops::linear_residual_input + 1);
    fused.inputs[ops::linear_residual_input] = rewriter.value(match.residual);
    fused.outputs = {rewriter.value(node.outputs.front())};
    if (match.residual) {
        fused.attributes.set("residual", true);  // for dumps
    } else {
        fused.attributes.set("activation", node.attributes.get<std::string>("activation"));
        fused.attributes.set("keep_pre_activation", keeps_pre_activation);
        if (keeps_pre_activation) fused.outputs.push_back(rewriter.value(node.input(0)));
    }
    rewriter.to().copy_node(std::move(fused));
}

}  // namespace

Graph fuse_epilogue(const Graph& graph) {
    const std::vector<int> uses = count_uses(graph);
    std::vector<std::optional<Match>> matches(graph.nodes().size());
    std::vector<bool> absorbed(graph.nodes().size());
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        matches[i] = match_epilogue(graph, graph.nodes()[i], uses);
        if (matches[i]) absorbed[static_cast<std::size_t>(matches[i]->linear - graph.nodes().data())] = true;
    }
    GraphRewriter rewriter(graph);
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (absorbed[i]) continue;
        if (!matches[i]) {
            rewriter.copy(node);
            continue;
        }
        emit_fused(rewriter, node, *matches[i], uses[static_cast<std::size_t>(node.input(0).index)] > 1);
    }
    return std::move(rewriter).finish();
}

}  // namespace causeway
