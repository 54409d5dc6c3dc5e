#include "base/format.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// y[t] = sum over choices j, in order, of w[t,j] rows[slot of (t,j)].
// drows[slot] = w[t,j] dy[t];  dw[t,j] = dy[t] . rows[slot].

namespace causeway::ops {
namespace {

enum Input : std::size_t { rows_input, weights_input, order_input, slots_input };

void check_inputs(const Graph& graph, const Node& node) {
    const TensorDesc& rows = input_desc(graph, node, rows_input);
    const TensorDesc& weights = input_desc(graph, node, weights_input);
    for (std::size_t i : {order_input, slots_input}) {
        require(input_desc(graph, node, i).dtype == DType::i32 &&
                    input_desc(graph, node, i).shape.elements() == weights.shape.elements(),
                fmt::format("input {} must be i32 with an entry a weight, found {} for weights {}", i,
                            shape_text(graph, node, i), shape_text(graph, node, weights_input)));
    }
    require(rows.shape.rank() == 2 && rows.shape[0] == weights.shape.elements(),
            fmt::format("the rows must be one for each weight, found {} for weights {}",
                        shape_text(graph, node, rows_input), shape_text(graph, node, weights_input)));
}

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    check_inputs(graph, node);
    const TensorDesc& rows = input_desc(graph, node, rows_input);
    const Shape& weights = input_desc(graph, node, weights_input).shape;
    std::vector<std::int64_t> extents(weights.extents().begin(), weights.extents().end());
    extents.back() = rows.shape.back();
    return {{"", {rows.dtype, Shape(extents)}}};
}

Cost cost(const Graph& graph, const Node& node) {
    const double choices = static_cast<double>(graph.shape(node.input(weights_input)).back());
    return streaming_cost(graph, node, 2 * choices);
}

void backward(BackwardContext& context) {
    const Node& node = context.node();
    const ValueId dy = context.output_gradient(0);
    if (!dy) return;
    const NodeId id = context.graph().add_node(
        moe_combine_backward(), node.name + ".backward",
        {node.input(rows_input), node.input(weights_input), node.input(order_input), node.input(slots_input), dy});
    const std::vector<ValueId> outputs = context.graph().node(id).outputs;
    if (context.wants_gradient(rows_input)) context.give_gradient(rows_input, outputs[0]);
    if (context.wants_gradient(weights_input)) context.give_gradient(weights_input, outputs[1]);
}

void lower(LowerContext& context) {
    const std::int64_t cols = context.out_shape().back(), choices = context.in_shape(weights_input).back();
    const Cut tokens = cut_rows(context.out_shape().rows(), choices * cols);
    const BufferRef rows = context.in(rows_input), weights = context.in(weights_input), slots = context.in(slots_input),
                    y = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.permute.combine;
        context.stage("", tokens.tiles(), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel({nullptr, run.at<const std::int32_t>(slots), choices, cols}, run.at<const T>(rows),
                                 run.at<const T>(weights), run.at<T>(y), tokens.begin(begin), tokens.begin(end));
                      });
    });
}

std::vector<OutputSpec> infer_backward(const Graph& graph, const Node& node) {
    check_inputs(graph, node);
    const TensorDesc& rows = input_desc(graph, node, rows_input);
    const TensorDesc& weights = input_desc(graph, node, weights_input);
    const TensorDesc& dy = input_desc(graph, node, 4);
    require(dy.shape.rows() == weights.shape.rows() && dy.shape.back() == rows.shape.back(),
            fmt::format("dy {} does not fit weights {} and rows {}", shape_text(graph, node, 4),
                        shape_text(graph, node, weights_input), shape_text(graph, node, rows_input)));
    return {{"rows", rows, Role::activation, -1, rows_input}, {"weights", weights}};
}

Cost backward_cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 3); }

void lower_backward(LowerContext& context) {
    const std::int64_t cols = context.in_shape(rows_input).back(), choices = context.in_shape(weights_input).back();
    const Cut pairs = cut_rows(context.in_shape(rows_input).rows(), cols);
    const BufferRef rows = context.in(rows_input), weights = context.in(weights_input), order = context.in(order_input),
                    dy = context.in(4), drows = context.out(0), dweights = context.out(1);
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.permute.combine_backward;
        context.stage("", pairs.tiles(), backward_cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel({run.at<const std::int32_t>(order), nullptr, choices, cols}, run.at<const T>(rows),
                                 run.at<const T>(weights), run.at<const T>(dy), run.at<T>(drows), run.at<T>(dweights),
                                 pairs.begin(begin), pairs.begin(end));
                      });
    });
}

}  // namespace

const OpDef& moe_combine() {
    static const OpDef def{
        "moe_combine", "each token's weighted sum of its experts' rows", infer, backward, cost, nullptr, lower};
    return def;
}

const OpDef& moe_combine_backward() {
    static const OpDef def{"moe_combine_backward", "gradients of the experts' rows and of their weights",
                           infer_backward,         nullptr,
                           backward_cost,          nullptr,
                           lower_backward};
    return def;
}

}  // namespace causeway::ops
