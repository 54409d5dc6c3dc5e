#include "ops/parameter_update.hpp"

#include "base/format.hpp"
#include "ops/matrices.hpp"

namespace causeway::ops {

std::vector<OutputSpec> infer_update(const Graph& graph, const Node& node, std::span<const char* const> states) {
    const TensorDesc& param = input_desc(graph, node, update_param);
    const auto same_shape = [&](std::size_t i) {
        require(input_desc(graph, node, i).shape == param.shape,
                fmt::format("input {} is {}, the parameter {}", i, shape_text(graph, node, i),
                            shape_text(graph, node, update_param)));
    };
    same_shape(update_gradient);
    const TensorDesc& factors = input_desc(graph, node, update_factors_input);
    require(factors.dtype == DType::f64 && factors.shape == Shape{update_factor_count},
            fmt::format("the factors must be f64 ({}), found {} {}", static_cast<int>(update_factor_count),
                        to_string(factors.dtype), to_string(factors.shape)));
    std::vector<OutputSpec> outputs{{"", param, Role::parameter, update_param}};
    for (std::size_t s = 0; s < states.size(); ++s) {
        const std::size_t input = update_first_state + s;
        if (!node.input(input)) continue;
        same_shape(input);
        outputs.push_back({states[s], param, Role::state, static_cast<int>(input)});
    }
    if (node.input(update_packed)) {
        outputs.push_back({"packed", input_desc(graph, node, update_packed), Role::packed, update_packed});
    }
    return outputs;
}

Cost update_cost(const Graph& graph, const Node& node, double flops_per_element) {
    const TensorDesc& param = graph.value(node.input(update_param)).desc;
    std::int64_t states = 0, packed = 0;
    for (std::size_t i = update_first_state; i < node.inputs.size(); ++i) states += node.input(i) ? 1 : 0;
    if (node.input(update_packed)) packed = graph.value(node.input(update_packed)).desc.bytes();
    return {flops_per_element * static_cast<double>(param.shape.elements()),
            static_cast<double>((3 + 2 * states) * param.bytes() + packed)};
}

namespace {

/// Of all parameters.
std::int64_t packed_bytes(const Graph& graph) {
    std::int64_t bytes = 0;
    for (ValueId id : graph.with_role(Role::packed)) {
        if (graph.storage_of(id) == id) bytes += graph.value(id).desc.bytes();
    }
    return bytes;
}

constexpr std::int64_t most_cached_bytes = 8 << 20;  // with parameters, gradients and two moments 40 MiB

}  // namespace

UpdateTiles::UpdateTiles(const LowerContext& context) : cut(cut_elements(context.in_shape(update_param).elements())) {
    if (!context.node().input(update_packed)) return;
    const Matrices param(context.in_shape(update_param));
    rows = param.rows;
    cols = param.cols;
    context.with_table([&](const auto& table) {
        panels = table.gemm.panels(rows);
        panel_rows = table.gemm.panel_columns;
        packed_matrix = table.gemm.packed_elements(rows, cols);
    });
    cut = cut_rows(param.count * panels, panel_rows * cols);
    streams = packed_bytes(context.graph()) > most_cached_bytes;
}

}  // namespace causeway::ops
