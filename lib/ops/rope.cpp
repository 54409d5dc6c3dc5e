#include "base/format.hpp"
#include "ops/ops.hpp"
#include "ops/qkv_row.hpp"

// Every pair of a head of Q and K turns by an angle that grows with its position (Su et al. 2021); V stays. A
// rotation's transpose is its inverse: dx is dy turned back.

namespace causeway::ops {
namespace {

enum Input : std::size_t { qkv_input, table_input, past_input };

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& qkv = input_desc(graph, node, qkv_input);
    const TensorDesc& table = input_desc(graph, node, table_input);
    const kernels::QkvRow row = qkv_row(node.attributes, qkv.shape);
    require(row.head_dim % 2 == 0, fmt::format("head_dim must be even to be rotated in pairs, found {}", row.head_dim));
    require(table.shape.rank() == 2 && table.shape[1] == row.head_dim,
            fmt::format("the table must be (P,{}), found {}", row.head_dim, shape_text(graph, node, table_input)));
    require(qkv.shape[1] <= table.shape[0],
            fmt::format("{} positions are asked for, the table has {}", qkv.shape[1], table.shape[0]));
    if (node.input(past_input)) {
        const TensorDesc& past = input_desc(graph, node, past_input);
        require(past.dtype == DType::i32 && past.shape == Shape{qkv.shape[0]},
                fmt::format("past must be i32 ({}), found {}", qkv.shape[0], shape_text(graph, node, past_input)));
    }
    return {{"", qkv, Role::activation, -1, qkv_input}};
}

Cost cost(const Graph& graph, const Node& node) { return table_row_cost(graph, node, 3); }

void backward(BackwardContext& context) {
    const Node& node = context.node();
    const ValueId dy = context.output_gradient(0);
    if (!dy || !context.wants_gradient(qkv_input)) return;
    context.give_gradient(qkv_input,
                          context.graph().emit(rope_backward(), node.name + ".backward",
                                               {dy, node.input(table_input), node.input(past_input)}, node.attributes));
}

/// Forward turns by the table's angles, the gradient back.
void lower_rotation(LowerContext& context, bool inverse) {
    const kernels::QkvRow row = qkv_row(context.attributes(), context.out_shape());
    const bool interleaved = context.attributes().get<bool>("interleaved");
    const std::int64_t seq_len = context.out_shape()[1];
    const Cut rows = cut_rows(context.out_shape().rows(), row.width());
    const BufferRef x = context.in(qkv_input), angles = context.in(table_input), past = context.in(past_input),
                    y = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.rope.rotate;
        context.stage(
            "", rows.tiles(), cost(context.graph(), context.node()),
            [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                kernel({run.at<const T>(x), run.at<T>(y), run.at<const T>(angles), run.at<const std::int32_t>(past),
                        seq_len, row.width(), row.normed_heads(), row.head_dim, interleaved, inverse},
                       rows.begin(begin), rows.begin(end));
            });
    });
}

void lower(LowerContext& context) { lower_rotation(context, false); }
void lower_backward(LowerContext& context) { lower_rotation(context, true); }

}  // namespace

const OpDef& rope() {
    static const OpDef def{"rope", "rotates the heads of Q and K by their positions", infer, backward, cost, nullptr,
                           lower};
    return def;
}

const OpDef& rope_backward() {
    static const OpDef def{"rope_backward", "rotates the gradients of Q and K back", infer, nullptr, cost, nullptr,
                           lower_backward};
    return def;
}

}  // namespace causeway::ops
