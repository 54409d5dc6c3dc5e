#include "base/format.hpp"
#include "ops/ops.hpp"
#include "ops/partial_sums.hpp"
#include "ops/qkv_row.hpp"

// RMSNorm of every head of Q and K inside the fused qkv, with one gain for all query heads and one for all key heads:
// the formulas of rmsnorm over head_dim. The gradient of V passes through.

namespace causeway::ops {
namespace {

enum Input : std::size_t { qkv_input, q_weight_input, k_weight_input };
enum BackwardInput : std::size_t { dy_in, qkv_in, q_weight_in, k_weight_in, rstd_in, q_gradient_in, k_gradient_in };

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& qkv = input_desc(graph, node, qkv_input);
    const kernels::QkvRow row = qkv_row(node.attributes, qkv.shape);
    for (const std::size_t i : {q_weight_input, k_weight_input}) {
        require(input_desc(graph, node, i).shape == Shape{row.head_dim},
                fmt::format("both weights must be ({}), found {}", row.head_dim, shape_text(graph, node, i)));
    }
    return {{"", qkv, Role::activation, -1, qkv_input},
            {"rstd", {qkv.dtype, {qkv.shape[0], qkv.shape[1], row.normed_heads()}}}};
}

Cost cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 4); }

void backward(BackwardContext& context) {
    const Node& node = context.node();
    const ValueId dy = context.output_gradient(0);
    if (!dy) return;
    const ValueId q_gradient = context.gradient_to_update(q_weight_input),
                  k_gradient = context.gradient_to_update(k_weight_input);
    const NodeId id = context.graph().add_node(qk_norm_backward(), node.name + ".backward",
                                               {dy, node.input(qkv_input), node.input(q_weight_input),
                                                node.input(k_weight_input), node.outputs[1], q_gradient, k_gradient},
                                               node.attributes);
    const std::vector<ValueId> outputs = context.graph().node(id).outputs;
    if (context.wants_gradient(qkv_input)) context.give_gradient(qkv_input, outputs[0]);
    std::size_t next = 1;
    if (q_gradient) context.gradient_updated(q_weight_input, outputs[next++]);
    if (k_gradient) context.gradient_updated(k_weight_input, outputs[next]);
}

void lower(LowerContext& context) {
    const kernels::QkvRow row = qkv_row(context.attributes(), context.out_shape());
    const double eps = context.attributes().get<double>("eps");
    const Cut rows = cut_rows(context.out_shape().rows(), row.width());
    const BufferRef qkv = context.in(qkv_input), q_weight = context.in(q_weight_input),
                    k_weight = context.in(k_weight_input), y = context.out(0), rstd = context.out(1);
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.rmsnorm.qk_forward;
        context.stage("", rows.tiles(), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel({run.at<const T>(qkv), run.at<const T>(q_weight), run.at<const T>(k_weight),
                                  run.at<T>(y), run.at<T>(rstd), row, eps},
                                 rows.begin(begin), rows.begin(end));
                      });
    });
}

std::vector<OutputSpec> infer_backward(const Graph& graph, const Node& node) {
    const TensorDesc& dy = input_desc(graph, node, dy_in);
    qkv_row(node.attributes, dy.shape);
    require(dy.shape == input_desc(graph, node, qkv_in).shape,
            fmt::format("dy {} and qkv {} must have one shape", shape_text(graph, node, dy_in),
                        shape_text(graph, node, qkv_in)));
    std::vector<OutputSpec> outputs{{"", dy, Role::activation, -1, dy_in}};
    if (node.input(q_gradient_in)) {
        outputs.push_back({"q_weight", input_desc(graph, node, q_gradient_in), Role::gradient, q_gradient_in});
    }
    if (node.input(k_gradient_in)) {
        outputs.push_back({"k_weight", input_desc(graph, node, k_gradient_in), Role::gradient, k_gradient_in});
    }
    return outputs;
}

Cost backward_cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 9); }

std::int64_t chunks_of(const Shape& qkv) { return ceil_div(qkv.rows(), partial_sum_rows(qkv.rows())); }

std::int64_t workspace(const LowerContext& context) {
    return chunks_of(context.out_shape()) * 2 * context.attributes().get<std::int64_t>("head_dim") *
           context.element_bytes();
}

void lower_backward(LowerContext& context) {
    const kernels::QkvRow row = qkv_row(context.attributes(), context.out_shape());
    const std::int64_t rows = context.out_shape().rows(), chunks = chunks_of(context.out_shape()), dim = row.head_dim;
    const BufferRef dy = context.in(dy_in), qkv = context.in(qkv_in), q_weight = context.in(q_weight_in),
                    k_weight = context.in(k_weight_in), rstd = context.in(rstd_in), dqkv = context.out(0),
                    partial = context.workspace();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.rmsnorm.qk_backward;
        context.stage(
            "", chunks, backward_cost(context.graph(), context.node()),
            [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                kernel({run.at<const T>(dy), run.at<const T>(qkv), run.at<const T>(q_weight), run.at<const T>(k_weight),
                        run.at<const T>(rstd), run.at<T>(dqkv), run.at<T>(partial), row, rows, partial_sum_rows(rows)},
                       begin, end);
            });
    });
    std::size_t output = 1;
    if (context.in(q_gradient_in)) {
        sum_partials(context, "q_weight", {partial, chunks, dim, 2 * dim}, q_gradient_in, output++);
    }
    if (context.in(k_gradient_in)) {
        const BufferRef k_partial = context.workspace(dim * context.element_bytes());
        sum_partials(context, "k_weight", {k_partial, chunks, dim, 2 * dim}, k_gradient_in, output);
    }
}

}  // namespace

const OpDef& qk_norm() {
    static const OpDef def{
        "qk_norm", "rmsnorm of each head of Q and K inside the fused qkv", infer, backward, cost, nullptr, lower};
    return def;
}

const OpDef& qk_norm_backward() {
    static const OpDef def{"qk_norm_backward", "gradients of qk_norm", infer_backward, nullptr, backward_cost,
                           workspace,          lower_backward};
    return def;
}

}  // namespace causeway::ops
