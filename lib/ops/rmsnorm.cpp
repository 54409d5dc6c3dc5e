#include "base/format.hpp"
#include "ops/ops.hpp"
#include "ops/partial_sums.hpp"

// y = xhat w, xhat = x rstd, rstd = 1 / sqrt(mean(x^2) + eps) (Zhang, Sennrich 2019).
// g = dy w;  dx = rstd (g - xhat mean(g xhat)) [+ dresidual];  dw = sum of dy xhat over rows.

namespace causeway::ops {
namespace {

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& x = input_desc(graph, node, 0);
    require(x.shape.rank() >= 2, fmt::format("x must be (...,D), found {}", shape_text(graph, node, 0)));
    require(input_desc(graph, node, 1).shape == Shape{x.shape.back()},
            fmt::format("the weight must be ({}), found {}", x.shape.back(), shape_text(graph, node, 1)));
    return {{"", x, Role::activation, -1, 0}, {"rstd", {x.dtype, {x.shape.rows()}}}};
}

Cost cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 4); }

void backward(BackwardContext& context) {
    const Node& node = context.node();
    const ValueId dy = context.output_gradient(0);
    if (!dy) return;
    const ValueId weight_gradient = context.gradient_to_update(1);
    const NodeId id = context.graph().add_node(rmsnorm_backward(), node.name + ".backward",
                                               {dy, node.input(0), node.input(1), node.outputs[1], weight_gradient});
    const std::vector<ValueId> outputs = context.graph().node(id).outputs;
    if (context.wants_gradient(0)) context.give_gradient(0, outputs[0]);
    if (weight_gradient) context.gradient_updated(1, outputs[1]);
}

void lower(LowerContext& context) {
    const std::int64_t cols = context.out_shape().back();
    const double eps = context.attributes().get<double>("eps");
    const Cut rows = cut_rows(context.out_shape().rows(), cols);
    const BufferRef x = context.in(0), weight = context.in(1), y = context.out(0), rstd = context.out(1);
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.rmsnorm.forward;
        context.stage("", rows.tiles(), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel(
                              {run.at<const T>(x), run.at<const T>(weight), run.at<T>(y), run.at<T>(rstd), cols, eps},
                              rows.begin(begin), rows.begin(end));
                      });
    });
}

std::vector<OutputSpec> infer_backward(const Graph& graph, const Node& node) {
    const TensorDesc& dy = input_desc(graph, node, 0);
    require(dy.shape == input_desc(graph, node, 1).shape,
            fmt::format("dy {} and x {} must have one shape", shape_text(graph, node, 0), shape_text(graph, node, 1)));
    std::vector<OutputSpec> outputs{{"", dy, Role::activation, -1, 0}};
    if (node.input(4)) outputs.push_back({"weight", input_desc(graph, node, 4), Role::gradient, 4});
    return outputs;
}

Cost backward_cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 9); }

std::int64_t workspace(const LowerContext& context) {
    const Shape& shape = context.out_shape();
    return ceil_div(shape.rows(), partial_sum_rows(shape.rows())) * shape.back() * context.element_bytes();
}

void lower_backward(LowerContext& context) {
    const std::int64_t rows = context.out_shape().rows(), cols = context.out_shape().back();
    const std::int64_t per_chunk = partial_sum_rows(rows), chunks = ceil_div(rows, per_chunk);
    const BufferRef dy = context.in(0), x = context.in(1), weight = context.in(2), rstd = context.in(3),
                    dresidual = context.in(rmsnorm_dresidual_input), dx = context.out(0), partial = context.workspace();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.rmsnorm.backward;
        context.stage("", chunks, backward_cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel(
                              {run.at<const T>(dy), run.at<const T>(x), run.at<const T>(weight), run.at<const T>(rstd),
                               run.at<const T>(dresidual), run.at<T>(dx), run.at<T>(partial), rows, cols, per_chunk},
                              begin, end);
                      });
    });
    if (context.in(4)) sum_partials(context, "weight", {partial, chunks, cols, cols}, 4, 1);
}

}  // namespace

const OpDef& rmsnorm() {
    static const OpDef def{
        "rmsnorm", "root mean square 1 over the last axis, then gain", infer, backward, cost, nullptr, lower};
    return def;
}

const OpDef& rmsnorm_backward() {
    static const OpDef def{"rmsnorm_backward", "gradients of rmsnorm", infer_backward, nullptr, backward_cost,
                           workspace,          lower_backward};
    return def;
}

}  // namespace causeway::ops
