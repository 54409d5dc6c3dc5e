#include <fmt/format.h>

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

Cost streaming_cost(const Graph& graph, const Node& node, double flops_per_element) {
    Cost cost;
    for (ValueId id : node.inputs) {
        if (id) cost.bytes += static_cast<double>(graph.value(id).desc.bytes());
    }
    for (ValueId id : node.outputs) cost.bytes += static_cast<double>(graph.value(id).desc.bytes());
    cost.flops = flops_per_element * static_cast<double>(graph.shape(node.outputs.front()).elements());
    return cost;
}

}  // namespace causeway::ops
