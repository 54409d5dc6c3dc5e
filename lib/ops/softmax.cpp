#include "base/format.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// y = exp(x - max x) / sum exp(x - max x) over the last axis;  dx = y (dy - sum(y dy)).

namespace causeway::ops {
namespace {

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& x = input_desc(graph, node, 0);
    require(x.shape.rank() >= 1, "softmax needs an axis");
    return {{"", x, Role::activation, -1, 0}};
}

Cost cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 20); }

void backward(BackwardContext& context) {
    const ValueId dy = context.output_gradient(0);
    if (!dy || !context.wants_gradient(0)) return;
    context.give_gradient(0, context.graph().emit(softmax_backward(), context.node().name + ".backward",
                                                  {context.node().outputs[0], dy}));
}

void lower(LowerContext& context) {
    const std::int64_t cols = context.out_shape().back();
    const Cut rows = cut_rows(context.out_shape().rows(), cols);
    const BufferRef x = context.in(0), y = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.softmax.forward;
        context.stage("", rows.tiles(), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel(run.at<const T>(x), run.at<T>(y), cols, rows.begin(begin), rows.begin(end));
                      });
    });
}

std::vector<OutputSpec> infer_backward(const Graph& graph, const Node& node) {
    const TensorDesc& y = input_desc(graph, node, 0);
    require(y.shape == input_desc(graph, node, 1).shape,
            fmt::format("y {} and dy {} must have one shape", shape_text(graph, node, 0), shape_text(graph, node, 1)));
    return {{"", y, Role::activation, -1, 1}};
}

Cost backward_cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 4); }

void lower_backward(LowerContext& context) {
    const std::int64_t cols = context.out_shape().back();
    const Cut rows = cut_rows(context.out_shape().rows(), cols);
    const BufferRef y = context.in(0), dy = context.in(1), dx = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.softmax.backward;
        context.stage("", rows.tiles(), backward_cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel(run.at<const T>(y), run.at<const T>(dy), run.at<T>(dx), cols, rows.begin(begin),
                                 rows.begin(end));
                      });
    });
}

}  // namespace

const OpDef& softmax() {
    static const OpDef def{"softmax", "softmax over the last axis", infer, backward, cost, nullptr, lower};
    return def;
}

const OpDef& softmax_backward() {
    static const OpDef def{"softmax_backward", "y (dy - sum(y dy))", infer_backward, nullptr, backward_cost, nullptr,
                           lower_backward};
    return def;
}

}  // namespace causeway::ops
