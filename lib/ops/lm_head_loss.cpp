#include "base/format.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// loss = sum over rows of lse(l) - l[target], l = h W^T + b; rows with target -100 do not count.
// dl = softmax(l) - onehot(target);  dh = dl W;  dW = dl^T h;  db = sum of dl over rows.
// The logits exist for one chunk of rows at a time: l, the loss, dl (in place), dh and dW follow each other per chunk.

namespace causeway::ops {
namespace {

enum Input : std::size_t { h_input, weight_input, bias_input, targets_input, packed_nt, packed_nn, dweight, dbias };

/// How rows are cut into chunks and where a chunk's logits and all rows' losses lie in the workspace.
struct Chunks {
    std::int64_t rows, vocab, dim;
    std::int64_t count, chunk_rows;
    std::int64_t ld;           ///< logits row, padded to a cache line
    std::int64_t loss_offset;  ///< bytes

    Chunks(const Graph& graph, const Node& node, std::int64_t element_bytes) {
        const Shape& weight = graph.shape(node.input(weight_input));
        rows = graph.shape(node.input(h_input)).rows();
        vocab = weight[0];
        dim = weight[1];
        // At most 512 rows, and about 64 MiB of float logits where the vocabulary is large, but no fewer than 64 rows:
        // below that the three products are bound by reading the weight.
        const std::int64_t most = std::clamp<std::int64_t>((std::int64_t{1} << 24) / vocab, 64, 512);
        count = std::max<std::int64_t>(1, ceil_div(rows, most));
        chunk_rows = std::max<std::int64_t>(1, ceil_div(rows, count));
        count = ceil_div(rows, chunk_rows);
        ld = round_up(vocab, 16);
        loss_offset = chunk_rows * ld * element_bytes;
    }
    explicit Chunks(const LowerContext& context) : Chunks(context.graph(), context.node(), context.element_bytes()) {}

    std::int64_t workspace_bytes() const { return loss_offset + rows * static_cast<std::int64_t>(sizeof(double)); }
};

void check_inputs(const Graph& graph, const Node& node) {
    const TensorDesc& h = input_desc(graph, node, h_input);
    const TensorDesc& weight = input_desc(graph, node, weight_input);
    const TensorDesc& targets = input_desc(graph, node, targets_input);
    require(weight.shape.rank() == 2 && h.shape.back() == weight.shape[1],
            fmt::format("h must be (B,T,D) and the weight (V,D), found {} and {}", shape_text(graph, node, h_input),
                        shape_text(graph, node, weight_input)));
    require(targets.dtype == DType::i32 && targets.shape.elements() == h.shape.rows(),
            fmt::format("targets must be i32 with one entry a row of h, found {} for h {}",
                        shape_text(graph, node, targets_input), shape_text(graph, node, h_input)));
    if (node.input(bias_input)) {
        require(input_desc(graph, node, bias_input).shape == Shape{weight.shape[0]},
                fmt::format("the bias must be ({}), found {}", weight.shape[0], shape_text(graph, node, bias_input)));
    }
}

OutputSpec loss_output() { return {"", {DType::f64, Shape{}}, Role::result}; }

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    check_inputs(graph, node);
    return {loss_output()};
}

Cost product_cost(const LowerContext& context, const Chunks& chunks, std::int64_t rows) {
    const double m = static_cast<double>(rows), v = static_cast<double>(chunks.vocab),
                 d = static_cast<double>(chunks.dim);
    return {2 * m * v * d, (m * v + m * d + v * d) * static_cast<double>(context.element_bytes())};
}

Cost cost(const Graph& graph, const Node& node) {
    Cost cost = streaming_cost(graph, node, 0);
    cost.flops = 2.0 * static_cast<double>(graph.shape(node.input(h_input)).rows()) *
                 static_cast<double>(graph.shape(node.input(weight_input)).elements());
    return cost;
}

Cost backward_cost(const Graph& graph, const Node& node) {
    Cost total = cost(graph, node);
    total.flops *= 3;
    return total;
}

void backward(BackwardContext& context) {
    const Node& node = context.node();
    const ValueId weight_gradient = context.gradient_to_update(weight_input);
    const ValueId bias_gradient = context.gradient_to_update(bias_input);
    const NodeId id = context.graph().add_node(lm_head_loss_backward(), node.name + ".backward",
                                               {node.input(h_input),
                                                node.input(weight_input),
                                                node.input(bias_input),
                                                node.input(targets_input),
                                                {},
                                                {},
                                                weight_gradient,
                                                bias_gradient});
    const std::vector<ValueId> outputs = context.graph().node(id).outputs;
    if (context.wants_gradient(h_input)) context.give_gradient(h_input, outputs[1]);
    std::size_t next = 2;
    if (weight_gradient) context.gradient_updated(weight_input, outputs[next++]);
    if (bias_gradient) context.gradient_updated(bias_input, outputs[next]);
}

std::int64_t workspace(const LowerContext& context) { return Chunks(context).workspace_bytes(); }

/// Stages that make the logits of rows [first, first + rows) in the workspace and turn them into losses (and dlogits).
void lower_logits_and_loss(LowerContext& context, const Chunks& chunks, std::int64_t first, std::int64_t rows,
                           bool with_gradient) {
    const BufferRef h = context.in(h_input), w = context.in(weight_input), bias = context.in(bias_input),
                    targets = context.in(targets_input), packed = context.in(packed_nt);
    const BufferRef logits = context.workspace(), losses = context.workspace(chunks.loss_offset);
    const std::int64_t n = chunks.vocab, k = chunks.dim, ld = chunks.ld;
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto gemm = table.gemm.nt;
        context.stage("logits", table.gemm.tiling(kernels::GemmForm::nt, rows, n, k).tiles(),
                      product_cost(context, chunks, rows),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernels::GemmArgs<T> args{rows,
                                                    n,
                                                    k,
                                                    run.at<const T>(h) + first * k,
                                                    k,
                                                    run.at<const T>(w),
                                                    k,
                                                    run.at<const T>(packed),
                                                    run.at<T>(logits),
                                                    ld};
                          args.epilogue.bias = run.at<const T>(bias);
                          gemm(args, begin, end);
                      });
        const auto kernel = with_gradient ? table.cross_entropy.forward_backward : table.cross_entropy.forward;
        const Cut cut = cut_rows(rows, n);
        const double elements = static_cast<double>(rows * n);
        context.stage("cross_entropy", cut.tiles(), {20 * elements, 2 * elements * sizeof(T)},
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          kernel({run.at<T>(logits), ld, n, run.at<const std::int32_t>(targets) + first,
                                  run.at<double>(losses) + first},
                                 cut.begin(begin), cut.begin(end));
                      });
    });
}

/// The stages dh = dl W and dW += dl^T h of one chunk.
void lower_products(LowerContext& context, const Chunks& chunks, std::int64_t first, std::int64_t rows) {
    const BufferRef h = context.in(h_input), w = context.in(weight_input), packed = context.in(packed_nn);
    const BufferRef dlogits = context.workspace(), dh = context.out(1), dw = context.out(2), db = context.out(3);
    const std::int64_t vocab = chunks.vocab, dim = chunks.dim, ld = chunks.ld;
    const Cost cost = product_cost(context, chunks, rows);
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto nn = table.gemm.nn;
        context.stage("dh", table.gemm.tiling(kernels::GemmForm::nn, rows, dim, vocab).tiles(), cost,
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          nn({rows, dim, vocab, run.at<const T>(dlogits), ld, run.at<const T>(w), dim,
                              run.at<const T>(packed), run.at<T>(dh) + first * dim, dim},
                             begin, end);
                      });
        if (!dw) return;
        const bool overwrites = context.first_write(dweight) && first == 0;
        const auto tn = table.gemm.tn;
        context.stage(
            "dw", table.gemm.tiling(kernels::GemmForm::tn, vocab, dim, rows).tiles(), cost,
            [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                kernels::GemmArgs<T> args{
                    vocab,   dim,           rows, run.at<const T>(dlogits), ld, run.at<const T>(h) + first * dim, dim,
                    nullptr, run.at<T>(dw), dim};
                args.accumulate = !overwrites || run.args.accumulate;
                args.epilogue.a_sums = run.at<T>(db);
                tn(args, begin, end);
            });
    });
}

/// The last stage: the rows' losses summed in order.
void lower_sum(LowerContext& context, const Chunks& chunks) {
    const BufferRef losses = context.workspace(chunks.loss_offset), loss = context.out(0);
    const std::int64_t rows = chunks.rows;
    context.stage("sum", 1, {static_cast<double>(rows), 8.0 * static_cast<double>(rows)},
                  [=](const RunContext& run, std::int64_t, std::int64_t) {
                      double sum = 0;
                      for (std::int64_t r = 0; r < rows; ++r) sum += run.at<const double>(losses)[r];
                      *run.at<double>(loss) = sum;
                  });
}

std::vector<WeightUse> weights(const Graph& graph, const Node& node) {
    return {{weight_input, packed_nt, true, Chunks(graph, node, 1).chunk_rows}};
}

void lower(LowerContext& context) {
    const Chunks chunks(context);
    for (std::int64_t first = 0; first < chunks.rows; first += chunks.chunk_rows) {
        lower_logits_and_loss(context, chunks, first, std::min(chunks.chunk_rows, chunks.rows - first), false);
    }
    lower_sum(context, chunks);
}

std::vector<OutputSpec> infer_backward(const Graph& graph, const Node& node) {
    check_inputs(graph, node);
    std::vector<OutputSpec> outputs{loss_output(), {"dh", input_desc(graph, node, h_input)}};
    if (node.input(dweight)) outputs.push_back({"weight", input_desc(graph, node, dweight), Role::gradient, dweight});
    if (node.input(dbias)) {
        require(static_cast<bool>(node.input(dweight)), "a head's bias is learned together with its weight");
        outputs.push_back({"bias", input_desc(graph, node, dbias), Role::gradient, dbias});
    }
    return outputs;
}

std::vector<WeightUse> backward_weights(const Graph& graph, const Node& node) {
    std::vector<WeightUse> uses = weights(graph, node);
    uses.push_back({weight_input, packed_nn, false, uses[0].rows});
    return uses;
}

void lower_backward(LowerContext& context) {
    const Chunks chunks(context);
    for (std::int64_t first = 0; first < chunks.rows; first += chunks.chunk_rows) {
        const std::int64_t rows = std::min(chunks.chunk_rows, chunks.rows - first);
        lower_logits_and_loss(context, chunks, first, rows, true);
        lower_products(context, chunks, first, rows);
    }
    lower_sum(context, chunks);
}

}  // namespace

const OpDef& lm_head_loss() {
    static const OpDef def{
        "lm_head_loss", "logits and cross-entropy in chunks of rows", infer, backward, cost, workspace, lower, weights};
    return def;
}

const OpDef& lm_head_loss_backward() {
    static const OpDef def{"lm_head_loss_backward", "logits, cross-entropy and all their gradients in chunks of rows",
                           infer_backward,          nullptr,
                           backward_cost,           workspace,
                           lower_backward,          backward_weights};
    return def;
}

}  // namespace causeway::ops
