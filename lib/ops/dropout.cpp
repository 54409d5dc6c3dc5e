#include "kernels/dropout/dropout.hpp"

#include "base/format.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// y = x o Z, Z[b,t,d] 0 with probability `rate`, else 1 / (1 - rate) (Srivastava et al. 2014);  dx = dy o Z. Z is drawn
// anew wherever it is needed, from (seed, step, site, row of the accumulation window, t, d): the attribute site is what
// the fusions and recomputation leave alone.

namespace causeway::ops {
namespace {

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& x = input_desc(graph, node, 0);
    const double rate = node.attributes.get<double>("rate");
    node.attributes.get<std::int64_t>("site");
    require(x.shape.rank() == 3, fmt::format("x must be (B,T,D), found {}", shape_text(graph, node, 0)));
    require(rate >= 0 && rate <= 1, fmt::format("rate is {}, expected 0 to 1", rate));
    return {{"", x, Role::activation, -1, 0}};
}

Cost cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 20); }

void backward(BackwardContext& context) {
    const ValueId dy = context.output_gradient(0);
    if (!dy || !context.wants_gradient(0)) return;
    context.give_gradient(
        0, context.graph().emit(dropout(), context.node().name + ".backward", {dy}, context.node().attributes));
}

void lower(LowerContext& context) {
    const Shape& shape = context.out_shape();
    const std::int64_t length = shape[1], cols = shape[2];
    const Cut rows = cut_rows(shape.rows(), cols);
    const double rate = context.attributes().get<double>("rate");
    const std::int64_t site = context.attributes().get<std::int64_t>("site");
    const BufferRef x = context.in(0), y = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.dropout.apply;
        context.stage("", rows.tiles(), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          const kernels::DropoutMask mask =
                              kernels::dropout_mask(rate, run.args.seed, run.args.step, site, run.args.first_row);
                          kernel(mask, run.at<const T>(x), run.at<T>(y), length, cols, rows.begin(begin),
                                 rows.begin(end));
                      });
    });
}

}  // namespace

const OpDef& dropout() {
    static const OpDef def{"dropout", "sets a random share of elements to 0", infer, backward, cost, nullptr, lower};
    return def;
}

}  // namespace causeway::ops
