#include <algorithm>
#include <cstring>

#include "base/format.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// y[b,0] = x[b, count[b] - 1]: only the row whose logits are wanted goes on to the head. Where count is 0 it is row 0.

namespace causeway::ops {
namespace {

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& x = input_desc(graph, node, 0);
    require(x.shape.rank() == 3, fmt::format("x must be (B,T,D), found {}", shape_text(graph, node, 0)));
    require_row_counts(graph, node, 1, x.shape[0]);
    return {{"", {x.dtype, {x.shape[0], 1, x.shape[2]}}}};
}

Cost cost(const Graph& graph, const Node& node) {
    return {0, 2.0 * static_cast<double>(graph.value(node.outputs[0]).desc.bytes())};
}

void lower(LowerContext& context) {
    const Shape& shape = context.in_shape(0);
    const std::int64_t batch_stride = shape[1] * shape[2] * context.element_bytes();
    const std::int64_t row_bytes = shape[2] * context.element_bytes();
    const BufferRef x = context.in(0), count = context.in(1), y = context.out();
    context.stage("", shape[0], cost(context.graph(), context.node()),
                  [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                      for (std::int64_t b = begin; b < end; ++b) {
                          const std::int64_t t = std::max(run.at<const std::int32_t>(count)[b] - 1, 0);
                          std::memcpy(run.at<std::byte>(y) + b * row_bytes,
                                      run.at<const std::byte>(x) + b * batch_stride + t * row_bytes,
                                      static_cast<std::size_t>(row_bytes));
                      }
                  });
}

}  // namespace

const OpDef& take_last() {
    static const OpDef def{"take_last", "the last row of each sequence", infer, nullptr, cost, nullptr, lower};
    return def;
}

}  // namespace causeway::ops
