#include <map>
#include <utility>

#include "compile/graph_rewriter.hpp"
#include "compile/passes.hpp"
#include "ops/matrices.hpp"
#include "ops/ops.hpp"

namespace causeway {
namespace {

/// Which weight, in which form.
using PackedKey = std::pair<std::int32_t, bool>;

bool wants_packed(const Graph& graph, const Node& node, const WeightUse& use, const KernelTables& tables) {
    const ops::Matrices weight(graph.shape(node.input(use.weight_input)));
    const std::int64_t n = use.transposed ? weight.rows : weight.cols, k = use.transposed ? weight.cols : weight.rows;
    const auto form = use.transposed ? kernels::GemmForm::nt : kernels::GemmForm::nn;
    return tables.visit([&](const auto& table) { return table.gemm.wants_packed(form, use.rows, n, k); });
}

std::int64_t packed_elements(const ops::Matrices& weight, bool transposed, const KernelTables& tables) {
    const std::int64_t n = transposed ? weight.rows : weight.cols, k = transposed ? weight.cols : weight.rows;
    return tables.visit([&](const auto& table) { return weight.count * table.gemm.packed_elements(n, k); });
}

std::vector<WeightUse> packed_uses(const Graph& graph, const Node& node, const KernelTables& tables) {
    std::vector<WeightUse> uses;
    if (node.op->weights == nullptr) return uses;
    for (const WeightUse& use : node.op->weights(graph, node)) {
        if (wants_packed(graph, node, use, tables)) uses.push_back(use);
    }
    return uses;
}

/// The attributes of a pack_weight node.
Attributes packing(const Graph& graph, ValueId weight, bool transposed, const KernelTables& tables) {
    return {{"form", std::string(transposed ? "nt" : "nn")},
            {"stored_elements", packed_elements(ops::Matrices(graph.shape(weight)), transposed, tables)}};
}

using PackedCopies = std::map<PackedKey, ValueId>;

/// Copies an optimizer's node so that it leaves the packed copies of its parameter up to date: that of form nt is
/// written by the node itself, panel by panel; that of form nn, whose panels lie across the rows, by a node of its own.
void copy_update(GraphRewriter& rewriter, const Node& node, const PackedCopies& packed, const KernelTables& tables) {
    Node update = rewriter.translate(node);
    update.outputs = rewriter.outputs(node);
    const std::int32_t weight = node.input(0).index;
    if (const auto nt = packed.find({weight, true}); nt != packed.end()) {
        update.inputs[static_cast<std::size_t>(node.op->renewed_copy_input)] = nt->second;
        Value renewed = rewriter.to().value(nt->second);
        renewed.name += ".updated";
        renewed.alias_of = nt->second;
        update.outputs.push_back(rewriter.to().add_value(std::move(renewed)));
    }
    const ValueId updated = update.outputs[0];
    rewriter.to().copy_node(std::move(update));
    if (const auto nn = packed.find({weight, false}); nn != packed.end()) {
        rewriter.to().emit(ops::pack_weight(), rewriter.to().value(nn->second).name + ".updated", {updated, nn->second},
                           packing(rewriter.from(), node.input(0), false, tables), Phase::update);
    }
}

}  // namespace

Graph pack_weights(const Graph& graph, const KernelTables& tables) {
    GraphRewriter rewriter(graph);
    PackedCopies packed;
    for (const Node& node : graph.nodes()) {
        for (const WeightUse& use : packed_uses(graph, node, tables)) {
            const ValueId weight = node.input(use.weight_input);
            ValueId& copy = packed[{weight.index, use.transposed}];
            if (copy) continue;
            const char* suffix = use.transposed ? ".packed_nt" : ".packed_nn";
            copy = rewriter.to().emit(ops::pack_weight(), graph.value(weight).name + suffix, {rewriter.value(weight)},
                                      packing(graph, weight, use.transposed, tables), Phase::pack);
        }
    }
    for (const Node& node : graph.nodes()) {
        if (node.op->renewed_copy_input >= 0) {
            copy_update(rewriter, node, packed, tables);
            continue;
        }
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
