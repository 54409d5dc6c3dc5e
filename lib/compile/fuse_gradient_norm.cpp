#include "compile/graph_rewriter.hpp"
#include "compile/passes.hpp"
#include "ops/ops.hpp"

namespace causeway {
namespace {

/// Elements from which a gradient has left the caches by the time of the norm. Smaller ones are read from there in less
/// time than the product takes longer.
constexpr std::int64_t worth_fusing = 128 * 1024;

/// The product node that finishes the gradient a square_sum node reads; null when another op does, the
/// gradient is small, or the node is no square_sum.
const Node* finishing_product(const Graph& graph, const Node& node) {
    if (node.op != &ops::square_sum()) return nullptr;
    const NodeId producer = graph.value(node.input(0)).producer;
    if (!producer || graph.shape(node.input(0)).elements() < worth_fusing) return nullptr;
    const Node& product = graph.node(producer);
    const bool sums = product.op->square_sum_tiles != nullptr && product.outputs.front() == node.input(0);
    return sums ? &product : nullptr;
}

}  // namespace

Graph fuse_gradient_norm(const Graph& graph, const KernelTables& tables) {
    std::vector<const Node*> sum_of(graph.nodes().size());  // by product
    std::vector<bool> absorbed(graph.nodes().size());
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node* product = finishing_product(graph, graph.nodes()[i]);
        if (product == nullptr) continue;
        sum_of[static_cast<std::size_t>(product - graph.nodes().data())] = &graph.nodes()[i];
        absorbed[i] = true;
    }
    GraphRewriter rewriter(graph);
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (absorbed[i]) continue;
        if (sum_of[i] == nullptr) {
            rewriter.copy(node);
            continue;
        }
        Node fused = rewriter.translate(node);
        fused.outputs = rewriter.outputs(node);
        const std::int64_t tiles = node.op->square_sum_tiles(LowerContext(graph, node, tables));
        fused.attributes.set("square_sums", tiles);
        const ValueId sums = rewriter.value(sum_of[i]->outputs.front());
        rewriter.to().value(sums).desc = {DType::f64, {tiles}};
        fused.outputs.push_back(sums);
        rewriter.to().copy_node(std::move(fused));
    }
    return std::move(rewriter).finish();
}

}  // namespace causeway
