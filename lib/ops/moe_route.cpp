#include "base/format.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// scores = softmax(logits) over all experts; the k largest of a token are its choices, their scores (divided by their
// sum) its weights. No expert has a limit (Shazeer et al. 2017; as in Qwen3-MoE and MiniMind, whose 1e-20 beside the
// sum is below rounding). Pairs token * k + choice are then sorted by expert, then by token:
//   offsets[e] is the first slot of expert e, order[slot] the pair of a slot, slots[pair] its inverse.
// Which experts are chosen is constant almost everywhere: gradients go through the chosen scores, and through the sums
// of the scores over all tokens where something reads these.

namespace causeway::ops {
namespace {

enum Output : std::size_t { weights_out, experts_out, offsets_out, order_out, slots_out, scores_out, sums_out };

std::int64_t choices_of(const Node& node) { return node.attributes.get<std::int64_t>("choices"); }

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& logits = input_desc(graph, node, 0);
    const std::int64_t choices = choices_of(node);
    require(logits.shape.rank() >= 2 && choices >= 1 && choices <= logits.shape.back(),
            fmt::format("the router's logits must be (...,E) with at least {} experts, found {}", choices,
                        shape_text(graph, node, 0)));
    std::vector<std::int64_t> extents(logits.shape.extents().begin(), logits.shape.extents().end());
    const std::int64_t experts = extents.back(), pairs = logits.shape.rows() * choices;
    extents.back() = choices;
    std::vector<OutputSpec> outputs{{"", {logits.dtype, Shape(extents)}},     {"experts", {DType::i32, Shape(extents)}},
                                    {"offsets", {DType::i32, {experts + 1}}}, {"order", {DType::i32, {pairs}}},
                                    {"slots", {DType::i32, {pairs}}},         {"scores", logits}};
    if (node.attributes.get<bool>("score_sums")) outputs.push_back({"score_sums", {logits.dtype, {experts}}});
    return outputs;
}

Cost cost(const Graph& graph, const Node& node) {
    Cost cost = streaming_cost(graph, node, 0);
    cost.flops = 20 * static_cast<double>(graph.shape(node.input(0)).elements());
    return cost;
}

void backward(BackwardContext& context) {
    const Node& node = context.node();
    const ValueId dweights = context.output_gradient(weights_out);
    const ValueId dsums = node.outputs.size() > sums_out ? context.output_gradient(sums_out) : ValueId{};
    if (!dweights || !context.wants_gradient(0)) return;
    context.give_gradient(0, context.graph().emit(moe_route_backward(), node.name + ".backward",
                                                  {dweights, node.outputs[weights_out], node.outputs[experts_out],
                                                   node.outputs[scores_out], dsums},
                                                  node.attributes));
}

/// Counting sort: every pair to the next free slot of its expert.
void sort_by_expert(const std::int32_t* experts, std::int64_t pairs, std::int64_t expert_count, std::int32_t* offsets,
                    std::int32_t* order, std::int32_t* slots) {
    std::fill_n(offsets, expert_count + 1, 0);
    for (std::int64_t pair = 0; pair < pairs; ++pair) ++offsets[experts[pair] + 1];
    for (std::int64_t e = 0; e < expert_count; ++e) offsets[e + 1] += offsets[e];
    for (std::int64_t pair = 0; pair < pairs; ++pair) {
        const std::int32_t slot = offsets[experts[pair]]++;
        order[slot] = static_cast<std::int32_t>(pair);
        slots[pair] = slot;
    }
    // Each offset has moved on to where the next expert begins.
    for (std::int64_t e = expert_count; e > 0; --e) offsets[e] = offsets[e - 1];
    offsets[0] = 0;
}

template <class T>
void lower_choice(LowerContext& context, const kernels::KernelTable<T>& table) {
    const std::int64_t choices = choices_of(context.node()), experts = context.in_shape(0).back();
    const bool normalize = context.attributes().get<bool>("normalize");
    const Cut rows = cut_rows(context.in_shape(0).rows(), experts);
    const BufferRef logits = context.in(0), scores = context.out(scores_out), weights = context.out(weights_out),
                    chosen = context.out(experts_out);
    const auto softmax = table.softmax.forward;
    const auto choose = table.route.choose;
    context.stage("choice", rows.tiles(), cost(context.graph(), context.node()),
                  [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                      const std::int64_t first = rows.begin(begin), last = rows.begin(end);
                      softmax(run.at<const T>(logits), run.at<T>(scores), experts, first, last);
                      choose({run.at<const T>(scores), run.at<T>(weights), run.at<std::int32_t>(chosen), experts,
                              choices, normalize},
                             first, last);
                  });
}

/// One thread sorts: a pair costs a few operations here and millions in its expert.
void lower_sort(LowerContext& context) {
    const std::int64_t pairs = context.out_shape(order_out).elements(), experts = context.in_shape(0).back();
    const BufferRef chosen = context.out(experts_out), offsets = context.out(offsets_out),
                    order = context.out(order_out), slots = context.out(slots_out);
    context.stage("sort", 1, {4 * static_cast<double>(pairs), 16 * static_cast<double>(pairs)},
                  [=](const RunContext& run, std::int64_t, std::int64_t) {
                      sort_by_expert(run.at<const std::int32_t>(chosen), pairs, experts, run.at<std::int32_t>(offsets),
                                     run.at<std::int32_t>(order), run.at<std::int32_t>(slots));
                  });
}

template <class T>
void lower_sums(LowerContext& context, const kernels::KernelTable<T>& table) {
    const std::int64_t rows = context.in_shape(0).rows(), experts = context.in_shape(0).back();
    const Cut columns = cut_columns(experts);
    const BufferRef scores = context.out(scores_out), sums = context.out(sums_out);
    const auto column_sums = table.elementwise.column_sums;
    const double elements = static_cast<double>(rows * experts);
    context.stage("sums", columns.tiles(), {elements, elements * sizeof(T)},
                  [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                      column_sums(run.at<const T>(scores), experts, rows, run.at<T>(sums), false, columns.begin(begin),
                                  columns.begin(end));
                  });
}

void lower(LowerContext& context) {
    context.with_table([&](const auto& table) {
        lower_choice(context, table);
        lower_sort(context);
        if (context.out(sums_out)) lower_sums(context, table);
    });
}

std::vector<OutputSpec> infer_backward(const Graph& graph, const Node& node) {
    const TensorDesc& dweights = input_desc(graph, node, 0);
    const TensorDesc& scores = input_desc(graph, node, 3);
    require(dweights.shape.back() == choices_of(node) && dweights.shape.rows() == scores.shape.rows(),
            fmt::format("the weights' gradient {} does not fit scores {} and {} choices", shape_text(graph, node, 0),
                        shape_text(graph, node, 3), choices_of(node)));
    return {{"", scores}};
}

Cost backward_cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 6); }

void lower_backward(LowerContext& context) {
    const std::int64_t choices = choices_of(context.node()), experts = context.out_shape().back();
    const bool normalize = context.attributes().get<bool>("normalize");
    const Cut rows = cut_rows(context.out_shape().rows(), experts);
    const BufferRef dweights = context.in(0), weights = context.in(1), chosen = context.in(2), scores = context.in(3),
                    dsums = context.in(4), dlogits = context.out();
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto score_gradient = table.route.backward;
        const auto softmax_gradient = table.softmax.backward;
        context.stage("", rows.tiles(), backward_cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          const std::int64_t first = rows.begin(begin), last = rows.begin(end);
                          T* gradient = run.at<T>(dlogits);
                          score_gradient({run.at<const T>(dweights), run.at<const T>(scores), run.at<const T>(weights),
                                          run.at<const std::int32_t>(chosen), run.at<const T>(dsums), gradient, experts,
                                          choices, normalize},
                                         first, last);
                          softmax_gradient(run.at<const T>(scores), gradient, gradient, experts, first, last);
                      });
    });
}

}  // namespace

const OpDef& moe_route() {
    static const OpDef def{"moe_route", "each token's experts, their weights, and all pairs sorted by expert",
                           infer,       backward,
                           cost,        nullptr,
                           lower};
    return def;
}

const OpDef& moe_route_backward() {
    static const OpDef def{
        "moe_route_backward", "gradient of the router's logits", infer_backward, nullptr, backward_cost, nullptr,
        lower_backward};
    return def;
}

}  // namespace causeway::ops
