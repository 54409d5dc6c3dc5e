#include "base/format.hpp"
#include "causeway/error.hpp"
#include "ops/lowering.hpp"

namespace causeway::ops {

void require(bool condition, const std::string& message) {
    if (!condition) throw GraphError(message);
}

const TensorDesc& input_desc(const Graph& graph, const Node& node, std::size_t i) {
    require(static_cast<bool>(node.input(i)), fmt::format("input {} is missing", i));
    return graph.value(node.input(i)).desc;
}

std::string shape_text(const Graph& graph, const Node& node, std::size_t i) {
    return to_string(input_desc(graph, node, i).shape);
}

void require_row_counts(const Graph& graph, const Node& node, std::size_t i, std::int64_t batch) {
    const TensorDesc& counts = input_desc(graph, node, i);
    require(counts.dtype == DType::i32 && counts.shape == Shape{batch},
            fmt::format("input {} must be i32 ({}), found {}", i, batch, shape_text(graph, node, i)));
}

Cost streaming_cost(const Graph& graph, const Node& node, double flops_per_element) {
    Cost cost;
    for (ValueId id : node.inputs) {
        if (id) cost.bytes += static_cast<double>(graph.value(id).desc.bytes());
    }
    for (ValueId id : node.outputs) cost.bytes += static_cast<double>(graph.value(id).desc.bytes());
    cost.flops = flops_per_element * static_cast<double>(graph.shape(node.outputs.front()).elements());
    return cost;
}

Cost table_row_cost(const Graph& graph, const Node& node, double flops_per_element) {
    Cost cost = streaming_cost(graph, node, flops_per_element);
    const TensorDesc& table = input_desc(graph, node, 1);
    const double rows = static_cast<double>(input_desc(graph, node, 0).shape[1]);
    cost.bytes -= static_cast<double>(table.bytes()) * (1 - rows / static_cast<double>(table.shape[0]));
    return cost;
}

}  // namespace causeway::ops
