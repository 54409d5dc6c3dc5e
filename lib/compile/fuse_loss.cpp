#include "compile/graph_rewriter.hpp"
#include "compile/passes.hpp"
#include "ops/ops.hpp"

namespace causeway {
namespace {

/// The backward node of a loss node: same inputs, gradients beside; null when the graph is not differentiated.
const Node* backward_of(const Graph& graph, const Node& loss) {
    for (const Node& node : graph.nodes()) {
        if (node.op == &ops::lm_head_loss_backward() && node.input(0) == loss.input(0)) return &node;
    }
    return nullptr;
}

}  // namespace

Graph fuse_loss(const Graph& graph) {
    GraphRewriter rewriter(graph);
    for (const Node& node : graph.nodes()) {
        const Node* backward = node.op == &ops::lm_head_loss() ? backward_of(graph, node) : nullptr;
        if (backward == nullptr) {
            rewriter.copy(node);
            continue;
        }
        const ValueId fused = rewriter.value(backward->outputs.front());
        rewriter.to().value(fused).name = graph.value(node.outputs.front()).name;
        rewriter.replace(node.outputs.front(), fused);
    }
    return std::move(rewriter).finish();
}

}  // namespace causeway
