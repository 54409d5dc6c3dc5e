#include "base/format.hpp"
#include "ops/ops.hpp"
#include "ops/partial_sums.hpp"

// y = xhat w + b, xhat = (x - mean) rstd (Ba, Kiros, Hinton 2016).
// g = dy w;  dx = rstd (g - mean(g) - xhat mean(g xhat)) [+ dresidual];  dw = sum of dy xhat, db = sum of dy over rows.

namespace causeway::ops {
namespace {

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& x = input_desc(graph, node, 0);
    require(x.shape.rank() >= 2, fmt::format("x must be (...,D), found {}", shape_text(graph, node, 0)));
    for (std::size_t i : {1u, 2u}) {
        require(input_desc(graph, node, i).shape == Shape{x.shape.back()},
                fmt::format("weight and bias must be ({}), found {}", x.shape.back(), shape_text(graph, node, i)));
    }
    const TensorDesc rows{x.dtype, {x.shape.rows()}};
    return {{"", x, Role::activation, -1, 0}, {"mean", rows}, {"rstd", rows}};
}

Cost cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 8); }

void backward(BackwardContext& context) {
    const Node& node = context.node();
    const ValueId dy = context.output_gradient(0);
    if (!dy) return;
    const NodeId id = context.graph().add_node(layernorm_backward(), node.name + ".backward",
                                               {dy, node.input(0), node.input(1), node.outputs[1], node.outputs[2],
                                                context.gradient_to_update(1), context.gradient_to_update(2)});
    const std::vector<ValueId> outputs = context.graph().node(id).outputs;
    if (context.wants_gradient(0)) context.give_gradient(0, outputs[0]);
    std::size_t next = 1;
    for (std::size_t i : {1u, 2u}) {
        if (context.gradient_to_update(i)) context.gradient_updated(i, outputs[next++]);
    }
}

void lower(LowerContext& context) {
    const std::int64_t cols = context.out_shape().back();
    const double eps = context.attributes().get<double>("eps");
    const Cut rows = cut_rows(context.out_shape().rows(), cols);
    const BufferRef x = context.in(0), weight = context.in(1), bias = context.in(2);
    const BufferRef y = context.out(0), mean = context.out(1), rstd = context.out(2);
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.norm.layernorm_forward;
        context.stage("", rows.tiles(), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel({run.at<const T>(x), run.at<const T>(weight), run.at<const T>(bias), run.at<T>(y),
                                  run.at<T>(mean), run.at<T>(rstd), cols, eps},
                                 rows.begin(begin), rows.begin(end));
                      });
    });
}

std::vector<OutputSpec> infer_backward(const Graph& graph, const Node& node) {
    const TensorDesc& dy = input_desc(graph, node, 0);
    require(dy.shape == input_desc(graph, node, 1).shape,
            fmt::format("dy {} and x {} must have one shape", shape_text(graph, node, 0), shape_text(graph, node, 1)));
    std::vector<OutputSpec> outputs{{"", dy, Role::activation, -1, 0}};
    if (node.input(5)) outputs.push_back({"weight", input_desc(graph, node, 5), Role::gradient, 5});
    if (node.input(6)) outputs.push_back({"bias", input_desc(graph, node, 6), Role::gradient, 6});
    return outputs;
}

Cost backward_cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 14); }

std::int64_t workspace(const LowerContext& context) {
    const Shape& shape = context.out_shape();
    return 2 * ceil_div(shape.rows(), partial_sum_rows(shape.rows())) * shape.back() * context.element_bytes();
}

void lower_backward(LowerContext& context) {
    const std::int64_t rows = context.out_shape().rows(), cols = context.out_shape().back();
    const std::int64_t per_chunk = partial_sum_rows(rows), chunks = ceil_div(rows, per_chunk);
    const BufferRef dy = context.in(0), x = context.in(1), weight = context.in(2), mean = context.in(3),
                    rstd = context.in(4), dresidual = context.in(layernorm_dresidual_input), dx = context.out(0);
    const BufferRef dweight_partial = context.workspace();
    const BufferRef dbias_partial = context.workspace(chunks * cols * context.element_bytes());
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.norm.layernorm_backward;
        context.stage("", chunks, backward_cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel(
                              {run.at<const T>(dy), run.at<const T>(x), run.at<const T>(weight), run.at<const T>(mean),
                               run.at<const T>(rstd), run.at<const T>(dresidual), run.at<T>(dx),
                               run.at<T>(dweight_partial), run.at<T>(dbias_partial), rows, cols, per_chunk},
                              begin, end);
                      });
    });
    std::size_t output = 1;
    if (context.in(5)) sum_partials(context, "weight", {dweight_partial, chunks, cols, cols}, 5, output++);
    if (context.in(6)) sum_partials(context, "bias", {dbias_partial, chunks, cols, cols}, 6, output);
}

}  // namespace

const OpDef& layernorm() {
    static const OpDef def{
        "layernorm", "zero mean, unit variance over the last axis, then gain and bias", infer, backward, cost, nullptr,
        lower};
    return def;
}

const OpDef& layernorm_backward() {
    static const OpDef def{
        "layernorm_backward", "gradients of layernorm", infer_backward, nullptr, backward_cost, workspace,
        lower_backward};
    return def;
}

}  // namespace causeway::ops
