#include "compile/graph_rewriter.hpp"
#include "compile/passes.hpp"
#include "ops/moe_linear.hpp"
#include "ops/ops.hpp"

namespace causeway {
namespace {

/// The product node that finishes the gradient a square_sum node reads; null when another op does.
const Node* finishing_product(const Graph& graph, const Node& node) {
    if (node.op != &ops::square_sum()) return nullptr;
    const NodeId producer = graph.value(node.input(0)).producer;
    if (!producer) return nullptr;
    const Node& product = graph.node(producer);
    const bool sums = product.op == &ops::linear_weight_gradient() || product.op == &ops::moe_linear_weight_gradient();
    return sums && product.outputs.front() == node.input(0) ? &product : nullptr;
}

std::int64_t tiles_of(const Graph& graph, const Node& product, const KernelTables& tables) {
    const Shape& gradient = graph.shape(product.outputs.front());
    if (product.op == &ops::moe_linear_weight_gradient()) return ops::moe_gradient_tiles(gradient);
    const auto ask = [&](const auto& table) {
        return table.gemm.tiling(kernels::GemmForm::tn, gradient[0], gradient[1], graph.shape(product.input(0)).rows())
            .tiles();
    };
    return tables.f64 != nullptr ? ask(*tables.f64) : ask(*tables.f32);
}

}  // namespace

Graph fuse_gradient_norm(const Graph& graph, const KernelTables& tables) {
    std::vector<const Node*> sum_of(graph.nodes().size());  // by product
    for (const Node& node : graph.nodes()) {
        if (const Node* product = finishing_product(graph, node)) {
            sum_of[static_cast<std::size_t>(product - graph.nodes().data())] = &node;
        }
    }
    GraphRewriter rewriter(graph);
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) {
        const Node& node = graph.nodes()[i];
        if (finishing_product(graph, node) != nullptr) continue;
        if (sum_of[i] == nullptr) {
            rewriter.copy(node);
            continue;
        }
        Node fused = rewriter.translate(node);
        fused.outputs = rewriter.outputs(node);
        const std::int64_t tiles = tiles_of(graph, node, tables);
        fused.attributes.set("square_sums", tiles);
        const ValueId sums = rewriter.value(sum_of[i]->outputs.front());
        rewriter.to().value(sums).desc = {DType::f64, {tiles}};
        fused.outputs.push_back(sums);
        rewriter.to().copy_node(std::move(fused));
    }
    return std::move(rewriter).finish();
}

}  // namespace causeway
