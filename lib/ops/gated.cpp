#include "base/format.hpp"
#include "ops/activation.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// y = act(gate) up with gate and up side by side (Shazeer 2020: "GLU Variants Improve Transformer").
// dgate = dy up act'(gate);  dup = dy act(gate).

namespace causeway::ops {
namespace {

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& gate_up = input_desc(graph, node, 0);
    activation_of(node.attributes);
    require(gate_up.shape.rank() >= 2 && gate_up.shape.back() % 2 == 0,
            fmt::format("gate and up must be (...,2F), found {}", shape_text(graph, node, 0)));
    std::vector<std::int64_t> extents(gate_up.shape.extents().begin(), gate_up.shape.extents().end());
    extents.back() /= 2;
    return {{"", {gate_up.dtype, Shape(extents)}}};
}

Cost cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 20); }

void backward(BackwardContext& context) {
    const ValueId dy = context.output_gradient(0);
    if (!dy || !context.wants_gradient(0)) return;
    context.give_gradient(0, context.graph().emit(gated_backward(), context.node().name + ".backward",
                                                  {context.node().input(0), dy}, context.node().attributes));
}

void lower(LowerContext& context) {
    const std::int64_t features = context.out_shape().back();
    const Cut rows = cut_rows(context.out_shape().rows(), 2 * features);
    const kernels::Activation kind = activation_of(context.attributes());
    const BufferRef gate_up = context.in(0), y = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.gated.forward;
        context.stage("", rows.tiles(), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel(kind, run.at<const T>(gate_up), run.at<T>(y), features, rows.begin(begin),
                                 rows.begin(end));
                      });
    });
}

std::vector<OutputSpec> infer_backward(const Graph& graph, const Node& node) {
    const TensorDesc& gate_up = input_desc(graph, node, 0);
    const TensorDesc& dy = input_desc(graph, node, 1);
    require(gate_up.shape.rows() == dy.shape.rows() && gate_up.shape.back() == 2 * dy.shape.back(),
            fmt::format("gate and up {} do not fit dy {}", shape_text(graph, node, 0), shape_text(graph, node, 1)));
    return {{"", gate_up, Role::activation, -1, 0}};
}

Cost backward_cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 14); }

void lower_backward(LowerContext& context) {
    const std::int64_t features = context.in_shape(1).back();
    const Cut rows = cut_rows(context.out_shape().rows(), 2 * features);
    const kernels::Activation kind = activation_of(context.attributes());
    const BufferRef gate_up = context.in(0), dy = context.in(1), dgate_up = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.gated.backward;
        context.stage("", rows.tiles(), backward_cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel(kind, run.at<const T>(gate_up), run.at<const T>(dy), run.at<T>(dgate_up), features,
                                 rows.begin(begin), rows.begin(end));
                      });
    });
}

}  // namespace

const OpDef& gated() {
    static const OpDef def{
        "gated", "the gate's activation times up, side by side before", infer, backward, cost, nullptr, lower};
    return def;
}

const OpDef& gated_backward() {
    static const OpDef def{
        "gated_backward", "gradients of gate and up, side by side", infer_backward, nullptr, backward_cost, nullptr,
        lower_backward};
    return def;
}

}  // namespace causeway::ops
