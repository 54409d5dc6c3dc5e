#include "base/format.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// y[b,t] = table[tokens[b,t]];  dtable[id] = sum of dy[b,t] over all (b,t) with tokens[b,t] = id.

namespace causeway::ops {
namespace {

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& tokens = input_desc(graph, node, 0);
    const TensorDesc& table = input_desc(graph, node, 1);
    require(tokens.dtype == DType::i32 && tokens.shape.rank() == 2,
            fmt::format("tokens must be i32 (B,T), found {}", shape_text(graph, node, 0)));
    require(table.shape.rank() == 2, fmt::format("the table must be (V,D), found {}", shape_text(graph, node, 1)));
    return {{"", {table.dtype, {tokens.shape[0], tokens.shape[1], table.shape[1]}}}};
}

Cost cost(const Graph& graph, const Node& node) {
    return {0, 2.0 * static_cast<double>(graph.value(node.outputs[0]).desc.bytes())};
}

void backward(BackwardContext& context) {
    const ValueId gradient = context.gradient_to_update(1);
    const ValueId dy = context.output_gradient(0);
    if (!gradient || !dy) return;
    context.gradient_updated(1, context.graph().emit(embedding_backward(), context.node().name + ".backward",
                                                     {context.node().input(0), dy, gradient}));
}

void lower(LowerContext& context) {
    const std::int64_t dim = context.out_shape().back();
    const Cut rows = cut_rows(context.out_shape().rows(), dim);
    const BufferRef tokens = context.in(0), table = context.in(1), y = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table_of) {
        const auto kernel = table_of.embedding.forward;
        context.stage("", rows.tiles(), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel(run.at<const std::int32_t>(tokens), run.at<const T>(table), run.at<T>(y), dim,
                                 rows.begin(begin), rows.begin(end));
                      });
    });
}

std::vector<OutputSpec> infer_backward(const Graph& graph, const Node& node) {
    const TensorDesc& dy = input_desc(graph, node, 1);
    const TensorDesc& gradient = input_desc(graph, node, 2);
    require(dy.shape.back() == gradient.shape.back(),
            fmt::format("dy {} does not fit the table's gradient {}", shape_text(graph, node, 1),
                        shape_text(graph, node, 2)));
    return {{"", gradient, Role::gradient, 2}};
}

Cost backward_cost(const Graph& graph, const Node& node) {
    const TensorDesc& dy = graph.value(node.input(1)).desc;
    return {static_cast<double>(dy.shape.elements()), 3.0 * static_cast<double>(dy.bytes())};
}

void lower_backward(LowerContext& context) {
    const Shape& dy_shape = context.in_shape(1);
    const std::int64_t rows = dy_shape.rows(), dim = dy_shape.back();
    const Cut columns{dim, 64};
    const Cut all = cut_elements(context.out_shape().elements());
    const BufferRef tokens = context.in(0), dy = context.in(1), gradient = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto fill = table.elementwise.fill;
        const auto kernel = table.embedding.backward;
        if (context.first_write(2)) {
            context.stage("zero", all.tiles(), {0, static_cast<double>(context.desc(context.node().input(2)).bytes())},
                          [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                              if (run.args.accumulate) return;
                              fill(run.at<T>(gradient), T(0), all.begin(begin), all.begin(end));
                          });
        }
        context.stage("", columns.tiles(), backward_cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel(run.at<const std::int32_t>(tokens), run.at<const T>(dy), run.at<T>(gradient), rows,
                                 dim, columns.begin(begin), columns.begin(end));
                      });
    });
}

}  // namespace

const OpDef& embedding() {
    static const OpDef def{"embedding", "rows of a table by token id", infer, backward, cost, nullptr, lower};
    return def;
}

const OpDef& embedding_backward() {
    static const OpDef def{"embedding_backward", "adds dy to the table rows that were looked up",
                           infer_backward,       nullptr,
                           backward_cost,        nullptr,
                           lower_backward};
    return def;
}

}  // namespace causeway::ops
