#include "base/format.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// y[b,t] = x[b,t] + table[past[b] + t];  dx = dy;  dtable[t] = sum over b of dy[b,t], with past 0.

namespace causeway::ops {
namespace {

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& x = input_desc(graph, node, 0);
    const TensorDesc& table = input_desc(graph, node, 1);
    require(x.shape.rank() == 3 && table.shape.rank() == 2 && x.shape[2] == table.shape[1],
            fmt::format("x must be (B,T,D) and the table (P,D), found {} and {}", shape_text(graph, node, 0),
                        shape_text(graph, node, 1)));
    require(x.shape[1] <= table.shape[0],
            fmt::format("{} positions are asked for, the table has {}", x.shape[1], table.shape[0]));
    if (node.input(2)) require_row_counts(graph, node, 2, x.shape[0]);
    return {{"", x, Role::activation, -1, 0}};
}

Cost cost(const Graph& graph, const Node& node) { return table_row_cost(graph, node, 1); }

void backward(BackwardContext& context) {
    const ValueId dy = context.output_gradient(0);
    if (!dy) return;
    if (context.wants_gradient(0)) context.give_gradient(0, dy);
    const ValueId gradient = context.gradient_to_update(1);
    if (!gradient) return;
    context.gradient_updated(
        1, context.graph().emit(positions_backward(), context.node().name + ".backward", {dy, gradient}));
}

void lower(LowerContext& context) {
    const Shape& shape = context.out_shape();
    const std::int64_t seq_len = shape[1], dim = shape[2], table_rows = context.in_shape(1)[0];
    const Cut rows = cut_rows(shape.rows(), dim);
    const BufferRef x = context.in(0), table = context.in(1), past = context.in(2), y = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table_of) {
        const auto kernel = table_of.embedding.positions_forward;
        context.stage("", rows.tiles(), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          const auto* first = run.at<const std::int32_t>(past);
                          std::int64_t r = rows.begin(begin);
                          const std::int64_t last = rows.begin(end);
                          const auto add = [&](std::int64_t length, std::int64_t position, std::int64_t stop) {
                              if (r >= stop) return;
                              kernel(run.at<const T>(x), run.at<const T>(table), run.at<T>(y), length, dim, position, r,
                                     stop);
                              r = stop;
                          };
                          if (!first) return add(seq_len, 0, last);
                          while (r < last) {  // a batch entry at a time: each has its own past
                              const std::int64_t b = r / seq_len, stop = std::min(last, (b + 1) * seq_len);
                              const std::int64_t inside = std::min(seq_len, table_rows - first[b]);
                              add(seq_len, first[b], std::min(stop, b * seq_len + inside));
                              // Beyond the table there is no token, only what fills the row up: any number does.
                              add(1, table_rows - 1, stop);
                          }
                      });
    });
}

std::vector<OutputSpec> infer_backward(const Graph& graph, const Node& node) {
    const TensorDesc& dy = input_desc(graph, node, 0);
    const TensorDesc& gradient = input_desc(graph, node, 1);
    require(dy.shape.rank() == 3 && dy.shape.back() == gradient.shape.back() && dy.shape[1] <= gradient.shape[0],
            fmt::format("dy {} does not fit the table's gradient {}", shape_text(graph, node, 0),
                        shape_text(graph, node, 1)));
    return {{"", gradient, Role::gradient, 1}};
}

Cost backward_cost(const Graph& graph, const Node& node) {
    const TensorDesc& dy = graph.value(node.input(0)).desc;
    return {static_cast<double>(dy.shape.elements()), static_cast<double>(dy.bytes())};
}

void lower_backward(LowerContext& context) {
    const Shape& shape = context.in_shape(0);
    const std::int64_t batch = shape[0], seq_len = shape[1], dim = shape[2];
    const std::int64_t table_rows = context.out_shape()[0];
    const Cut rows = cut_rows(seq_len, dim * batch);
    const bool first = context.first_write(1);
    const BufferRef dy = context.in(0), gradient = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.embedding.positions_backward;
        const auto fill = table.elementwise.fill;
        // Positions beyond the sequence have gradient 0; the last tile writes them.
        context.stage("", rows.tiles(), backward_cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          const bool accumulate = !first || run.args.accumulate;
                          kernel(run.at<const T>(dy), run.at<T>(gradient), batch, seq_len, dim, accumulate,
                                 rows.begin(begin), rows.begin(end));
                          if (!accumulate && end == rows.tiles()) {
                              fill(run.at<T>(gradient), T(0), seq_len * dim, table_rows * dim);
                          }
                      });
    });
}

}  // namespace

const OpDef& positions() {
    static const OpDef def{"positions", "adds a row of a table by position", infer, backward, cost, nullptr, lower};
    return def;
}

const OpDef& positions_backward() {
    static const OpDef def{
        "positions_backward", "sums dy over the batch", infer_backward, nullptr, backward_cost, nullptr,
        lower_backward};
    return def;
}

}  // namespace causeway::ops
