#include <map>
#include <utility>

#include "compile/graph_rewriter.hpp"
#include "compile/passes.hpp"
#include "ops/ops.hpp"

namespace causeway {
namespace {

/// Which weight, in which form.
using PackedKey = std::pair<std::int32_t, bool>;

bool wants_packed(const Graph& graph, const Node& node, const WeightUse& use, const KernelTables& tables) {
    const Shape& weight = graph.shape(node.input(use.weight_input));
    const std::int64_t n = use.transposed ? weight[0] : weight[1], k = use.transposed ? weight[1] : weight[0];
    const auto form = use.transposed ? kernels::GemmForm::nt : kernels::GemmForm::nn;
    const auto ask = [&](const auto& table) { return table.gemm.wants_packed(form, use.rows, n, k); };
    return tables.f64 != nullptr ? ask(*tables.f64) : ask(*tables.f32);
}

std::int64_t packed_elements(const Shape& weight, bool transposed, const KernelTables& tables) {
    const std::int64_t n = transposed ? weight[0] : weight[1], k = transposed ? weight[1] : weight[0];
    return tables.f64 != nullptr ? tables.f64->gemm.packed_elements(n, k) : tables.f32->gemm.packed_elements(n, k);
}

std::vector<WeightUse> packed_uses(const Graph& graph, const Node& node, const KernelTables& tables) {
    std::vector<WeightUse> uses;
    if (node.op->weights == nullptr) return uses;
    for (const WeightUse& use : node.op->weights(graph, node)) {
        if (wants_packed(graph, node, use, tables)) uses.push_back(use);
    }
    return uses;
}

}  // namespace

Graph pack_weights(const Graph& graph, const KernelTables& tables) {
    GraphRewriter rewriter(graph);
    std::map<PackedKey, ValueId> packed;
    for (const Node& node : graph.nodes()) {
        for (const WeightUse& use : packed_uses(graph, node, tables)) {
            const ValueId weight = node.input(use.weight_input);
            ValueId& copy = packed[{weight.index, use.transposed}];
            if (copy) continue;
            const std::string form = use.transposed ? "nt" : "nn";
            copy = rewriter.to().emit(
                ops::pack_weight(), graph.value(weight).name + ".packed_" + form, {rewriter.value(weight)},
                {{"form", form}, {"stored_elements", packed_elements(graph.shape(weight), use.transposed, tables)}},
                Phase::pack);
        }
    }
    for (const Node& node : graph.nodes()) {
        Node copy = rewriter.translate(node);
        copy.outputs = rewriter.outputs(node);
        for (const WeightUse& use : packed_uses(graph, node, tables)) {
            if (copy.inputs.size() <= use.packed_input) copy.inputs.resize(use.packed_input + 1);
            copy.inputs[use.packed_input] = packed.at({node.input(use.weight_input).index, use.transposed});
        }
        rewriter.to().copy_node(std::move(copy));
    }
    return std::move(rewriter).finish();
}

}  // namespace causeway
