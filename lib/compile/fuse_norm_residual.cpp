#include "compile/graph_rewriter.hpp"
#include "compile/passes.hpp"
#include "ops/ops.hpp"

namespace causeway {
namespace {

/// The input of a norm's backward where a residual gradient may join; 0 for any other node.
std::size_t dresidual_input(const Node& node) {
    if (node.op == &ops::layernorm_backward()) return ops::layernorm_dresidual_input;
    return node.op == &ops::rmsnorm_backward() ? ops::rmsnorm_dresidual_input : 0;
}

/// The backward of a norm that made `id`, if it has no residual gradient yet and nothing else reads `id`.
const Node* open_norm_backward(const Graph& graph, ValueId id, const std::vector<int>& uses) {
    const NodeId producer = graph.value(id).producer;
    if (!producer || uses[static_cast<std::size_t>(id.index)] != 1) return nullptr;
    const Node& node = graph.node(producer);
    const std::size_t input = dresidual_input(node);
    return input != 0 && node.outputs.front() == id && !node.input(input) ? &node : nullptr;
}

}  // namespace

Graph fuse_norm_residual(const Graph& graph) {
    const std::vector<int> uses = count_uses(graph);
    const auto index_of = [&](const Node* node) { return static_cast<std::size_t>(node - graph.nodes().data()); };
    std::vector<const Node*> norm_of(graph.nodes().size());  // by add node
    std::vector<const Node*> add_of(graph.nodes().size());   // by norm node
    for (const Node& node : graph.nodes()) {
        if (node.op != &ops::add()) continue;
        for (ValueId operand : node.inputs) {
            const Node* norm = open_norm_backward(graph, operand, uses);
            if (norm == nullptr || norm_of[index_of(&node)] != nullptr) continue;
            norm_of[index_of(&node)] = norm;
            add_of[index_of(norm)] = &node;
        }
    }
    GraphRewriter rewriter(graph);
    for (const Node& node : graph.nodes()) {
        if (add_of[index_of(&node)] != nullptr) continue;  // appended where its add stands
        const Node* norm = norm_of[index_of(&node)];
        if (norm == nullptr) {
            rewriter.copy(node);
            continue;
        }
        Node fused = rewriter.translate(*norm);
        const ValueId residual = node.input(0) == norm->outputs.front() ? node.input(1) : node.input(0);
        fused.inputs.resize(dresidual_input(*norm) + 1);
        fused.inputs[dresidual_input(*norm)] = rewriter.value(residual);
        fused.outputs = {rewriter.value(node.outputs.front())};
        for (std::size_t i = 1; i < norm->outputs.size(); ++i)
            fused.outputs.push_back(rewriter.value(norm->outputs[i]));
        rewriter.to().copy_node(std::move(fused));
    }
    return std::move(rewriter).finish();
}

}  // namespace causeway
