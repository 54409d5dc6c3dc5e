#include "base/format.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// y = a + b;  da = dy, db = dy.

namespace causeway::ops {
namespace {

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& a = input_desc(graph, node, 0);
    require(a.shape == input_desc(graph, node, 1).shape,
            fmt::format("operands must have one shape, found {} and {}", shape_text(graph, node, 0),
                        shape_text(graph, node, 1)));
    return {{"", a, Role::activation, -1, 0}};
}

Cost cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 1); }

void backward(BackwardContext& context) {
    const ValueId dy = context.output_gradient(0);
    if (!dy) return;
    for (std::size_t i : {0u, 1u}) {
        if (context.wants_gradient(i)) context.give_gradient(i, dy);
    }
}

void lower(LowerContext& context) {
    const Cut cut = cut_elements(context.out_shape().elements());
    const BufferRef a = context.in(0), b = context.in(1), y = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.elementwise.add;
        context.stage("", cut.tiles(), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel(run.at<const T>(a), run.at<const T>(b), run.at<T>(y), cut.begin(begin),
                                 cut.begin(end));
                      });
    });
}

}  // namespace

const OpDef& add() {
    static const OpDef def{
        "add", "elementwise sum: a residual connection, or two gradients of one value", infer, backward, cost, nullptr,
        lower};
    return def;
}

}  // namespace causeway::ops
