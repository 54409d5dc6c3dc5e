#include "base/format.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// Rows sorted by expert, each block of them times its expert's weight; rows [offsets[e], offsets[e+1]) are expert e's:
//   y = x W_e^T;  dx = dy W_e;  dW_e = dy^T x over the rows of e, 0 where there are none.
// Only a run knows the offsets, so the tiles are as many as any offsets can need (Gale et al. 2022, "MegaBlocks", has
// such blocks too): a row block never holds rows of two experts, and each tile finds its own.

namespace causeway::ops {
namespace {

/// Rows of x that pass through the caches together while an expert's weight streams by.
constexpr std::int64_t block_rows = 128;
/// Multiply-adds worth a tile of their own, and how many tiles a row block is cut into at most: as in a plain product.
constexpr std::int64_t tile_work = 1'000'000;
constexpr std::int64_t most_column_blocks = 16;
/// Rows of an expert's gradient a tile.
constexpr std::int64_t gradient_rows = 192;

/// Some rows of one expert.
struct RowBlock {
    std::int64_t expert = 0;
    std::int64_t begin = 0;
    std::int64_t rows = 0;  ///< 0: this tile has nothing to do
};

/// The row blocks of a product, by the sizes alone: tokens * choices rows, of which an expert has at most `tokens`.
struct RowBlocks {
    std::int64_t rows, experts, count;

    RowBlocks(std::int64_t all_rows, std::int64_t all_experts)
        : rows(all_rows), experts(all_experts), count(std::min(all_rows, all_rows / block_rows + all_experts)) {}

    /// The block of that number: those of expert 0 come first.
    RowBlock at(const std::int32_t* offsets, std::int64_t block) const {
        for (std::int64_t e = 0; e < experts; ++e) {
            const std::int64_t begin = offsets[e], size = offsets[e + 1] - begin, blocks = ceil_div(size, block_rows);
            if (block < blocks) {
                const std::int64_t first = block * block_rows;
                return {e, begin + first, std::min(block_rows, size - first)};
            }
            block -= blocks;
        }
        return {};
    }
};

/// Columns a tile of a row block: whole panels of the packed weight.
Cut cut_block_columns(std::int64_t rows, std::int64_t n, std::int64_t k, std::int64_t panel) {
    const std::int64_t work = std::clamp<std::int64_t>(rows, 8, block_rows) * n * k;
    const std::int64_t wanted = std::clamp<std::int64_t>(work / tile_work, 1, most_column_blocks);
    return {n, round_up(std::max<std::int64_t>(1, ceil_div(n, wanted)), panel)};
}

const TensorDesc& stacked_weight(const Graph& graph, const Node& node, std::size_t i) {
    const TensorDesc& weight = input_desc(graph, node, i);
    require(weight.shape.rank() == 3,
            fmt::format("the experts' weights must be (E,N,K), found {}", shape_text(graph, node, i)));
    return weight;
}

void check_offsets(const Graph& graph, const Node& node, std::size_t i, std::int64_t experts) {
    const TensorDesc& offsets = input_desc(graph, node, i);
    require(offsets.dtype == DType::i32 && offsets.shape == Shape{experts + 1},
            fmt::format("the offsets must be i32 ({}), found {}", experts + 1, shape_text(graph, node, i)));
}

/// FLOPs of one product of all rows with a weight each.
Cost product_cost(const Graph& graph, const Node& node, std::int64_t rows, const Shape& weight) {
    Cost cost = streaming_cost(graph, node, 0);
    cost.flops = 2 * static_cast<double>(rows) * static_cast<double>(weight[1] * weight[2]);
    return cost;
}

enum Input : std::size_t { rows_input, weight_input, offsets_input, packed_input };

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& x = input_desc(graph, node, rows_input);
    const Shape& weight = stacked_weight(graph, node, weight_input).shape;
    require(x.shape.rank() == 2 && x.shape[1] == weight[2],
            fmt::format("the rows must be (M,{}) for weights {}, found {}", weight[2],
                        shape_text(graph, node, weight_input), shape_text(graph, node, rows_input)));
    check_offsets(graph, node, offsets_input, weight[0]);
    return {{"", {x.dtype, {x.shape[0], weight[1]}}}};
}

Cost cost(const Graph& graph, const Node& node) {
    return product_cost(graph, node, graph.shape(node.input(rows_input))[0], graph.shape(node.input(weight_input)));
}

void backward(BackwardContext& context) {
    const Node& node = context.node();
    const ValueId dy = context.output_gradient(0);
    if (!dy) return;
    const ValueId gradient = context.gradient_to_update(weight_input);
    if (gradient) {
        context.gradient_updated(
            weight_input, context.graph().emit(moe_linear_weight_gradient(), node.name + ".weight_gradient",
                                               {dy, node.input(rows_input), node.input(offsets_input), gradient}));
    }
    if (context.wants_gradient(rows_input)) {
        context.give_gradient(rows_input,
                              context.graph().emit(moe_linear_input_gradient(), node.name + ".input_gradient",
                                                   {dy, node.input(weight_input), node.input(offsets_input)}));
    }
}

std::int64_t rows_of_one_expert(const Graph& graph, const Node& node) {
    const std::int64_t rows = graph.shape(node.input(rows_input))[0];
    return ceil_div(rows, graph.shape(node.input(weight_input))[0]);
}

std::vector<WeightUse> weights(const Graph& graph, const Node& node) {
    return {{weight_input, packed_input, true, rows_of_one_expert(graph, node)}};
}

/// y or dx: every row block times its expert's weight, columns by columns. `transposed`: y = x W^T, otherwise dx = dy
/// W.
void lower_product(LowerContext& context, bool transposed, const Cost& cost) {
    const Shape& weight = context.in_shape(weight_input);
    const std::int64_t n = transposed ? weight[1] : weight[2], k = transposed ? weight[2] : weight[1],
                       matrix = weight[1] * weight[2], ldb = weight[2];
    const RowBlocks blocks(context.in_shape(rows_input)[0], weight[0]);
    const BufferRef x = context.in(rows_input), w = context.in(weight_input), offsets = context.in(offsets_input),
                    packed = context.in(packed_input), y = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const Cut columns = cut_block_columns(blocks.rows, n, k, table.gemm.panel_columns);
        const auto form = transposed ? kernels::GemmForm::nt : kernels::GemmForm::nn;
        const auto kernel = transposed ? table.gemm.nt : table.gemm.nn;
        const auto tiling = table.gemm.tiling;
        const std::int64_t packed_matrix = table.gemm.packed_elements(n, k);
        context.stage(
            "", blocks.count * columns.tiles(), cost, [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                for (std::int64_t tile = begin; tile < end; ++tile) {
                    const RowBlock block = blocks.at(run.at<const std::int32_t>(offsets), tile % blocks.count);
                    if (block.rows == 0) continue;
                    const std::int64_t col = columns.begin(tile / blocks.count),
                                       cols = columns.begin(tile / blocks.count + 1) - col;
                    const T* panels = run.at<const T>(packed);
                    const kernels::GemmArgs<T> args{
                        block.rows,
                        cols,
                        k,
                        run.at<const T>(x) + block.begin * k,
                        k,
                        run.at<const T>(w) + block.expert * matrix + (transposed ? col * ldb : col),
                        ldb,
                        panels ? panels + block.expert * packed_matrix + col * k : nullptr,
                        run.at<T>(y) + block.begin * n + col,
                        n};
                    kernel(args, 0, tiling(form, block.rows, cols, k).tiles());
                }
            });
    });
}

void lower(LowerContext& context) { lower_product(context, true, cost(context.graph(), context.node())); }

std::vector<OutputSpec> infer_input_gradient(const Graph& graph, const Node& node) {
    const TensorDesc& dy = input_desc(graph, node, rows_input);
    const Shape& weight = stacked_weight(graph, node, weight_input).shape;
    require(dy.shape.rank() == 2 && dy.shape[1] == weight[1],
            fmt::format("dy must be (M,{}) for weights {}, found {}", weight[1], shape_text(graph, node, weight_input),
                        shape_text(graph, node, rows_input)));
    check_offsets(graph, node, offsets_input, weight[0]);
    return {{"", {dy.dtype, {dy.shape[0], weight[2]}}}};
}

void lower_input_gradient(LowerContext& context) {
    lower_product(context, false, cost(context.graph(), context.node()));
}

std::vector<OutputSpec> infer_weight_gradient(const Graph& graph, const Node& node) {
    const Shape& dy = input_desc(graph, node, 0).shape;
    const Shape& x = input_desc(graph, node, 1).shape;
    const TensorDesc& gradient = stacked_weight(graph, node, 3);
    require(dy[0] == x[0] && gradient.shape[1] == dy.back() && gradient.shape[2] == x.back(),
            fmt::format("dy {} and x {} do not fit the weights' gradient {}", shape_text(graph, node, 0),
                        shape_text(graph, node, 1), shape_text(graph, node, 3)));
    check_offsets(graph, node, 2, gradient.shape[0]);
    std::vector<OutputSpec> outputs{{"", gradient, Role::gradient, 3}};
    if (node.attributes.has("square_sums")) {
        outputs.push_back({"square_sum", {DType::f64, {node.attributes.get<std::int64_t>("square_sums")}}});
    }
    return outputs;
}

Cost weight_gradient_cost(const Graph& graph, const Node& node) {
    return product_cost(graph, node, graph.shape(node.input(0))[0], graph.shape(node.input(3)));
}

/// Each expert's gradient (N,K) in pieces of its rows.
std::int64_t weight_gradient_tiles(const LowerContext& context) {
    const Shape& gradient = context.out_shape();
    return gradient[0] * Cut{gradient[1], gradient_rows}.tiles();
}

void lower_weight_gradient(LowerContext& context) {
    const Shape& gradient = context.out_shape();
    const std::int64_t n = gradient[1], k = gradient[2], experts = gradient[0];
    const Cut pieces{n, gradient_rows};
    const bool first = context.first_write(3);
    const BufferRef dy = context.in(0), x = context.in(1), offsets = context.in(2), dw = context.out(0),
                    squares = context.out(1);
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.gemm.tn;
        const auto tiling = table.gemm.tiling;
        const auto square_sum = table.optimizer.square_sum;
        context.stage("", experts * pieces.tiles(), weight_gradient_cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          for (std::int64_t tile = begin; tile < end; ++tile) {
                              const std::int64_t expert = tile / pieces.tiles(), piece = tile % pieces.tiles(),
                                                 from = pieces.begin(piece), m = pieces.begin(piece + 1) - from;
                              const std::int32_t* offset = run.at<const std::int32_t>(offsets) + expert;
                              const std::int64_t rows = offset[1] - offset[0];
                              kernels::GemmArgs<T> args{m,
                                                        k,
                                                        rows,
                                                        run.at<const T>(dy) + offset[0] * n + from,
                                                        n,
                                                        run.at<const T>(x) + offset[0] * k,
                                                        k,
                                                        nullptr,
                                                        run.at<T>(dw) + (expert * n + from) * k,
                                                        k};
                              args.accumulate = !first || run.args.accumulate;
                              kernel(args, 0, tiling(kernels::GemmForm::tn, m, k, rows).tiles());
                              if (squares) run.at<double>(squares)[tile] = square_sum(args.c, 0, m * k);
                          }
                      });
    });
}

}  // namespace

const OpDef& moe_linear() {
    static const OpDef def{"moe_linear", "rows of each expert times its weight", infer, backward, cost, nullptr, lower,
                           weights};
    return def;
}

const OpDef& moe_linear_input_gradient() {
    static const OpDef def{
        "moe_linear_input_gradient", "dx = dy W of each expert", infer_input_gradient, nullptr, cost, nullptr,
        lower_input_gradient};
    return def;
}

const OpDef& moe_linear_weight_gradient() {
    static const OpDef def{"moe_linear_weight_gradient", "dW += dy^T x over the rows of each expert",
                           infer_weight_gradient,        nullptr,
                           weight_gradient_cost,         nullptr,
                           lower_weight_gradient,        nullptr,
                           weight_gradient_tiles};
    return def;
}

}  // namespace causeway::ops
