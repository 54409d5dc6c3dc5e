#include "base/format.hpp"
#include "ops/attention_variant.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// The same attention with its weights P (B,H,T,T) as a value of the graph, for those who ask to see them.
// With the factors Z of dropout: dV = (P Z)^T dO;  dS = P (dP - rowsum(P dP)), dP = Z dO V^T;  dQ = scale dS K;
// dK = scale dS^T Q. What masks hide has P = 0 and needs no mask again.

namespace causeway::ops {
namespace {

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& qkv = input_desc(graph, node, 0);
    const kernels::AttentionShape shape = attention_shape(node.attributes, qkv.shape);
    check_attention_inputs(graph, node, 1, shape);
    return {{"", {qkv.dtype, {shape.batch, shape.queries, shape.heads * shape.head_dim}}},
            {"weights", {qkv.dtype, {shape.batch, shape.heads, shape.queries, shape.keys}}}};
}

Cost cost(const Graph& graph, const Node& node) { return attention_cost(graph, node, 2); }

void backward(BackwardContext& context) {
    const Node& node = context.node();
    const ValueId dout = context.output_gradient(0);
    if (!dout || !context.wants_gradient(0)) return;
    context.give_gradient(0, context.graph().emit(attention_explicit_backward(), node.name + ".backward",
                                                  {node.input(0), node.outputs[1], dout}, node.attributes));
}

void lower(LowerContext& context) {
    const kernels::AttentionShape shape = attention_shape(context.attributes(), context.in_shape(0));
    const BufferRef qkv = context.in(0), out = context.out(0), weights = context.out(1);
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.attention.explicit_forward;
        const AttentionSettings<T> settings(context, 1, shape);
        context.stage(
            "", table.attention.explicit_tiles(shape), cost(context.graph(), context.node()),
            [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                const auto [q, k, v] = split_qkv(run.at<const T>(qkv), shape);
                kernel({shape, q, k, v, merged_heads(run.at<T>(out), shape), run.at<T>(weights), settings.at(run)},
                       begin, end);
            });
    });
}

std::vector<OutputSpec> infer_backward(const Graph& graph, const Node& node) {
    const TensorDesc& qkv = input_desc(graph, node, 0);
    const kernels::AttentionShape shape = attention_shape(node.attributes, qkv.shape);
    require(input_desc(graph, node, 1).shape == Shape({shape.batch, shape.heads, shape.queries, shape.keys}),
            fmt::format("the weights {} do not fit qkv {}", shape_text(graph, node, 1), shape_text(graph, node, 0)));
    return {{"", qkv}};
}

Cost backward_cost(const Graph& graph, const Node& node) { return attention_cost(graph, node, 4); }

std::int64_t workspace(const LowerContext& context) { return context.in_shape(1).elements() * context.element_bytes(); }

void lower_backward(LowerContext& context) {
    const kernels::AttentionShape shape = attention_shape(context.attributes(), context.in_shape(0));
    const BufferRef qkv = context.in(0), weights = context.in(1), dout = context.in(2), dqkv = context.out(),
                    dscores = context.workspace();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.attention.explicit_backward;
        const AttentionSettings<T> settings(context, 3, shape);
        context.stage("", table.attention.explicit_backward_tiles(shape),
                      backward_cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          const auto [q, k, v] = split_qkv(run.at<const T>(qkv), shape);
                          const auto [dq, dk, dv] = split_qkv(run.at<T>(dqkv), shape);
                          kernel({shape, q, k, v, merged_heads(run.at<const T>(dout), shape), run.at<const T>(weights),
                                  dq, dk, dv, run.at<T>(dscores), settings.at(run)},
                                 begin, end);
                      });
    });
}

}  // namespace

const OpDef& attention_explicit() {
    static const OpDef def{
        "attention_explicit", "attention that keeps its weights", infer, backward, cost, nullptr, lower};
    return def;
}

const OpDef& attention_explicit_backward() {
    static const OpDef def{"attention_explicit_backward",
                           "dqkv from the stored weights",
                           infer_backward,
                           nullptr,
                           backward_cost,
                           workspace,
                           lower_backward};
    return def;
}

}  // namespace causeway::ops
