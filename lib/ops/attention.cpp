#include <utility>
#include <vector>

#include "base/format.hpp"
#include "base/limits.hpp"
#include "ops/attention_variant.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// O = softmax(scale Q K^T + masks and bias) V in tiles, with the log-sum-exp of each row kept; the backward recomputes
// the weights from it (Dao et al. 2022: "FlashAttention", algorithms 1 and 4). Q, K, V are read inside the fused qkv.

namespace causeway::ops {
namespace {

// Where [mask] and [key_mask] begin.
constexpr std::size_t forward_options = 1, backward_options = 4;

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& qkv = input_desc(graph, node, 0);
    const kernels::AttentionShape shape = attention_shape(node.attributes, qkv.shape);
    require(shape.head_dim <= max_tiled_head_dim,
            fmt::format("head_dim is {}, tiled attention takes at most {}: use the explicit path", shape.head_dim,
                        max_tiled_head_dim));
    check_attention_inputs(graph, node, forward_options, shape);
    return {{"", {qkv.dtype, {shape.batch, shape.queries, shape.heads * shape.head_dim}}},
            {"lse", {qkv.dtype, {shape.batch, shape.heads, shape.queries}}}};
}

Cost cost(const Graph& graph, const Node& node) { return attention_cost(graph, node, 2); }

void backward(BackwardContext& context) {
    const Node& node = context.node();
    const ValueId dout = context.output_gradient(0);
    if (!dout || !context.wants_gradient(0)) return;
    std::vector<ValueId> inputs{node.input(0), node.outputs[0], node.outputs[1], dout};
    inputs.insert(inputs.end(), node.inputs.begin() + forward_options, node.inputs.end());
    context.give_gradient(
        0, context.graph().emit(attention_backward(), node.name + ".backward", std::move(inputs), node.attributes));
}

void lower(LowerContext& context) {
    const kernels::AttentionShape shape = attention_shape(context.attributes(), context.in_shape(0));
    const BufferRef qkv = context.in(0), out = context.out(0), lse = context.out(1);
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.attention.forward;
        const AttentionSettings<T> settings(context, forward_options, shape);
        context.stage("", table.attention.forward_tiles(shape), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          const auto [q, k, v] = split_qkv(run.at<const T>(qkv), shape);
                          kernel(
                              {shape, q, k, v, merged_heads(run.at<T>(out), shape), run.at<T>(lse), settings.at(run)},
                              begin, end);
                      });
    });
}

std::vector<OutputSpec> infer_backward(const Graph& graph, const Node& node) {
    const TensorDesc& qkv = input_desc(graph, node, 0);
    check_attention_inputs(graph, node, backward_options, attention_shape(node.attributes, qkv.shape));
    require(
        input_desc(graph, node, 1).shape == input_desc(graph, node, 3).shape,
        fmt::format("out {} and dout {} must have one shape", shape_text(graph, node, 1), shape_text(graph, node, 3)));
    return {{"", qkv}};
}

// The useful products: dV, dP, dQ, dK and the recomputed S.
Cost backward_cost(const Graph& graph, const Node& node) { return attention_cost(graph, node, 5); }

std::int64_t workspace(const LowerContext& context) {
    const kernels::AttentionShape shape = attention_shape(context.attributes(), context.in_shape(0));
    return context.with_table([&](const auto& table) { return table.attention.backward_workspace(shape); }) *
           context.element_bytes();
}

void lower_backward(LowerContext& context) {
    const kernels::AttentionShape shape = attention_shape(context.attributes(), context.in_shape(0));
    const BufferRef qkv = context.in(0), out = context.in(1), lse = context.in(2), dout = context.in(3),
                    dqkv = context.out(), workspace_ref = context.workspace();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto& attention = table.attention;
        const AttentionSettings<T> settings(context, backward_options, shape);
        const auto add_stage = [&](const char* name, std::int64_t tiles, Cost cost, auto kernel) {
            if (tiles == 0) return;
            context.stage(name, tiles, cost, [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                const auto [q, k, v] = split_qkv(run.at<const T>(qkv), shape);
                const auto [dq, dk, dv] = split_qkv(run.at<T>(dqkv), shape);
                kernel({shape, q, k, v, merged_heads(run.at<const T>(out), shape),
                        merged_heads(run.at<const T>(dout), shape), run.at<const T>(lse), dq, dk, dv,
                        run.at<T>(workspace_ref), settings.at(run)},
                       begin, end);
            });
        };
        const double out_elements = static_cast<double>(context.in_shape(1).elements());
        add_stage("delta", attention.backward_delta_tiles(shape), {2 * out_elements, 2 * out_elements * sizeof(T)},
                  attention.backward_delta);
        add_stage("", attention.backward_tiles(shape), backward_cost(context.graph(), context.node()),
                  attention.backward);
        const double workspace_bytes = static_cast<double>(workspace(context));
        add_stage("reduce", attention.backward_reduce_tiles(shape), {workspace_bytes / sizeof(T), workspace_bytes},
                  attention.backward_reduce);
    });
}

}  // namespace

const OpDef& attention() {
    static const OpDef def{"attention", "attention in tiles, without a T x T matrix", infer, backward, cost, nullptr,
                           lower};
    return def;
}

const OpDef& attention_backward() {
    static const OpDef def{"attention_backward", "dqkv, with the weights recomputed tile by tile",
                           infer_backward,       nullptr,
                           backward_cost,        workspace,
                           lower_backward};
    return def;
}

}  // namespace causeway::ops
