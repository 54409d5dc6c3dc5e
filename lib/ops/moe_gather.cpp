#include "base/format.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// rows[s] = x[token of slot s]: a token once for each of its k choices, sorted by expert.
// dx[t] = sum over its choices, in order, of drows[slot].

namespace causeway::ops {
namespace {

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& x = input_desc(graph, node, 0);
    const TensorDesc& order = input_desc(graph, node, 1);
    require(order.dtype == DType::i32 && order.shape.elements() % x.shape.rows() == 0,
            fmt::format("the order must be i32 with some entries a row of x, found {} for x {}",
                        shape_text(graph, node, 1), shape_text(graph, node, 0)));
    return {{"", {x.dtype, {order.shape.elements(), x.shape.back()}}}};
}

Cost cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 0); }

void backward(BackwardContext& context) {
    const Node& node = context.node();
    const ValueId drows = context.output_gradient(0);
    if (!drows || !context.wants_gradient(0)) return;
    context.give_gradient(
        0, context.graph().emit(moe_gather_backward(), node.name + ".backward", {drows, node.input(2), node.input(0)}));
}

void lower(LowerContext& context) {
    const std::int64_t cols = context.out_shape().back(), pairs = context.out_shape().rows(),
                       choices = pairs / context.in_shape(0).rows();
    const Cut rows = cut_rows(pairs, cols);
    const BufferRef x = context.in(0), order = context.in(1), y = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.permute.gather;
        context.stage("", rows.tiles(), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel({run.at<const std::int32_t>(order), nullptr, choices, cols}, run.at<const T>(x),
                                 run.at<T>(y), rows.begin(begin), rows.begin(end));
                      });
    });
}

std::vector<OutputSpec> infer_backward(const Graph& graph, const Node& node) {
    const TensorDesc& drows = input_desc(graph, node, 0);
    const TensorDesc& x = input_desc(graph, node, 2);
    require(drows.shape.back() == x.shape.back() && drows.shape.rows() == input_desc(graph, node, 1).shape.elements(),
            fmt::format("the rows' gradient {} does not fit slots {} and x {}", shape_text(graph, node, 0),
                        shape_text(graph, node, 1), shape_text(graph, node, 2)));
    return {{"", x}};
}

void lower_backward(LowerContext& context) {
    const std::int64_t cols = context.out_shape().back(), tokens = context.out_shape().rows(),
                       choices = context.in_shape(0).rows() / tokens;
    const Cut rows = cut_rows(tokens, choices * cols);
    const BufferRef drows = context.in(0), slots = context.in(1), dx = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.permute.combine;
        context.stage("", rows.tiles(), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel({nullptr, run.at<const std::int32_t>(slots), choices, cols}, run.at<const T>(drows),
                                 nullptr, run.at<T>(dx), rows.begin(begin), rows.begin(end));
                      });
    });
}

}  // namespace

const OpDef& moe_gather() {
    static const OpDef def{"moe_gather", "rows of tokens, sorted by expert", infer, backward, cost, nullptr, lower};
    return def;
}

const OpDef& moe_gather_backward() {
    static const OpDef def{
        "moe_gather_backward", "each token's sum over its choices", infer_backward, nullptr, cost, nullptr,
        lower_backward};
    return def;
}

}  // namespace causeway::ops
