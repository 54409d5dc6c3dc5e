#include <cmath>

#include "base/format.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// norm = sqrt(sum of all squares of all gradients), in double, in two fixed-order steps: partial sums of 64 Ki elements
// a gradient (or, after fusion, of the tiles of the product that made it), then their sum. The gradients are of the sum
// of losses: divide by the valid tokens for the mean's.

namespace causeway::ops {
namespace {

constexpr std::int64_t chunk = std::int64_t{1} << 16;

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& gradient = input_desc(graph, node, 0);
    return {{"", {DType::f64, {ceil_div(gradient.shape.elements(), chunk)}}}};
}

Cost cost(const Graph& graph, const Node& node) {
    const TensorDesc& gradient = graph.value(node.input(0)).desc;
    return {2.0 * static_cast<double>(gradient.shape.elements()), static_cast<double>(gradient.bytes())};
}

void lower(LowerContext& context) {
    const Cut cut{context.in_shape(0).elements(), chunk};
    const BufferRef gradient = context.in(0), partial = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.optimizer.square_sum;
        context.stage("", cut.tiles(), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          for (std::int64_t tile = begin; tile < end; ++tile) {
                              run.at<double>(partial)[tile] =
                                  kernel(run.at<const T>(gradient), cut.begin(tile), cut.begin(tile + 1));
                          }
                      });
    });
}

std::vector<OutputSpec> infer_norm(const Graph& graph, const Node& node) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        const TensorDesc& sums = input_desc(graph, node, i);
        require(sums.dtype == DType::f64,
                fmt::format("input {} must be f64 partial sums, found {}", i, to_string(sums)));
    }
    return {{"", {DType::f64, Shape{}}, Role::result}};
}

Cost norm_cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 1); }

void lower_norm(LowerContext& context) {
    std::vector<std::pair<BufferRef, std::int64_t>> partials;
    for (std::size_t i = 0; i < context.node().inputs.size(); ++i) {
        partials.emplace_back(context.in(i), context.in_shape(i).elements());
    }
    const BufferRef norm = context.out();
    context.stage("", 1, norm_cost(context.graph(), context.node()),
                  [=](const RunContext& run, std::int64_t, std::int64_t) {
                      double sum = 0;
                      for (const auto& [partial, count] : partials) {
                          for (std::int64_t i = 0; i < count; ++i) sum += run.at<const double>(partial)[i];
                      }
                      *run.at<double>(norm) = std::sqrt(sum);
                  });
}

}  // namespace

const OpDef& square_sum() {
    static const OpDef def{"square_sum", "partial sums of squares of one gradient", infer, nullptr, cost, nullptr,
                           lower};
    return def;
}

const OpDef& global_norm() {
    static const OpDef def{"global_norm", "L2 norm of all gradients together", infer_norm, nullptr, norm_cost, nullptr,
                           lower_norm};
    return def;
}

}  // namespace causeway::ops
