#include <algorithm>

#include "base/format.hpp"
#include "base/limits.hpp"
#include "kernels/attention/attention_flops.hpp"
#include "ops/attention_variant.hpp"
#include "ops/ops.hpp"

// O[b,t] = softmax(scale q[b,t] K[b]^T) V[b] over the past[b] + count[b] tokens in the cache, the new ones among them;
// token t < count[b] sees those up to itself (the causal mask is aligned bottom-right). Each batch entry is a problem
// of its own length for the kernels of attention, so the work is that of the tokens that are there, whatever the cache
// could hold. Rows from count[b] on become 0.

namespace causeway::ops {
namespace {

constexpr std::size_t optional_inputs = 5;  ///< none so far: rows have no padding, and masks are not for generation

bool is_tiled(const Node& node) { return node.attributes.get<bool>("tiled"); }

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& qkv = input_desc(graph, node, 0);
    const kernels::AttentionShape shape = attention_shape(node.attributes, qkv.shape);
    require_cache(graph, node);
    require(!is_tiled(node) || shape.head_dim <= max_tiled_head_dim,
            fmt::format("head_dim is {}, tiled attention takes at most {}: use the explicit path", shape.head_dim,
                        max_tiled_head_dim));
    return {{"", {qkv.dtype, {shape.batch, shape.queries, shape.heads * shape.head_dim}}}};
}

/// At the length that attribute "context" expects, K and V of it streamed once.
Cost cost(const Graph& graph, const Node& node) {
    kernels::AttentionShape shape = attention_shape(node.attributes, graph.shape(node.input(0)));
    shape.keys = std::max(node.attributes.get<std::int64_t>("context"), shape.queries);
    const double elements = 2.0 * static_cast<double>(shape.batch * shape.kv_heads * shape.keys * shape.head_dim) +
                            2.0 * static_cast<double>(shape.batch * shape.heads * shape.queries * shape.head_dim);
    return {2 * kernels::attention_product_flops(shape),
            elements * static_cast<double>(size_of(graph.value(node.outputs[0]).desc.dtype))};
}

/// The explicit path's weights (B,H,T,C).
std::int64_t workspace(const LowerContext& context) {
    if (is_tiled(context.node())) return 0;
    const kernels::AttentionShape shape = attention_shape(context.attributes(), context.in_shape(0));
    return shape.batch * shape.heads * shape.queries * context.in_shape(1)[2] * context.element_bytes();
}

/// A batch entry of a run: queries and keys of its own length, in a problem of batch 1.
template <class T>
struct Entry {
    kernels::AttentionShape shape;
    kernels::HeadsView<const T> q, k, v;
    kernels::HeadsView<T> out;
};

/// The node as its step runs it.
template <class T>
struct CachedAttention {
    const kernels::AttentionKernels<T>* kernels;
    bool tiled;
    kernels::AttentionShape shape;  ///< of the whole node, as planned
    std::int64_t capacity;
    BufferRef qkv, cache_k, cache_v, past, count, out, weights;
    AttentionSettings<T> settings;

    std::int64_t tiles_of(const kernels::AttentionShape& problem) const {
        return tiled ? kernels->forward_tiles(problem) : kernels->explicit_tiles(problem);
    }
    /// Tiles planned for one batch entry: as many as all T tokens need.
    std::int64_t planned_tiles() const {
        kernels::AttentionShape single = shape;
        single.batch = 1;
        return tiles_of(single);
    }

    Entry<T> entry(const RunContext& run, std::int64_t b) const {
        Entry<T> one{shape, split_qkv(run.at<const T>(qkv), shape).q,
                     cached_heads(run.at<const T>(cache_k), shape, capacity),
                     cached_heads(run.at<const T>(cache_v), shape, capacity), merged_heads(run.at<T>(out), shape)};
        one.shape.batch = 1;
        one.shape.queries = run.at<const std::int32_t>(count)[b];
        one.shape.keys = run.at<const std::int32_t>(past)[b] + one.shape.queries;
        one.q.data = one.q.at(b, 0, 0);
        one.k.data = one.k.at(b, 0, 0);
        one.v.data = one.v.at(b, 0, 0);
        one.out.data = one.out.at(b, 0, 0);
        return one;
    }

    void operator()(const RunContext& run, std::int64_t begin, std::int64_t end) const {
        const std::int64_t each = planned_tiles();
        while (begin < end) {
            const std::int64_t b = begin / each, stop = std::min(end, (b + 1) * each);
            const Entry<T> one = entry(run, b);
            if (begin == b * each)
                std::fill(one.out.at(0, one.shape.queries, 0), one.out.at(0, shape.queries, 0), T(0));
            if (one.shape.queries > 0) {
                const std::int64_t tiles = tiles_of(one.shape);  // fewer than planned when fewer tokens came
                call(run, one, b, std::min(begin - b * each, tiles), std::min(stop - b * each, tiles));
            }
            begin = stop;
        }
    }

    void call(const RunContext& run, const Entry<T>& one, std::int64_t b, std::int64_t from, std::int64_t to) const {
        if (tiled) {
            kernels::AttentionForwardArgs<T> args;
            set(args, one);
            args.variant = settings.at(run);
            kernels->forward(args, from, to);
        } else {
            kernels::ExplicitAttentionArgs<T> args;
            set(args, one);
            args.variant = settings.at(run);
            args.weights = run.at<T>(weights) + b * shape.heads * shape.queries * capacity;
            kernels->explicit_forward(args, from, to);
        }
    }

    template <class Args>
    static void set(Args& args, const Entry<T>& one) {
        args.shape = one.shape;
        args.q = one.q;
        args.k = one.k;
        args.v = one.v;
        args.out = one.out;
    }
};

void lower(LowerContext& context) {
    const kernels::AttentionShape shape = attention_shape(context.attributes(), context.in_shape(0));
    const bool tiled = is_tiled(context.node());
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const CachedAttention<T> attention{&table.attention,
                                           tiled,
                                           shape,
                                           context.in_shape(1)[2],
                                           context.in(0),
                                           context.in(1),
                                           context.in(2),
                                           context.in(3),
                                           context.in(4),
                                           context.out(),
                                           tiled ? BufferRef{} : context.workspace(),
                                           AttentionSettings<T>(context, optional_inputs, shape)};
        context.stage("", shape.batch * attention.planned_tiles(), cost(context.graph(), context.node()), attention);
    });
}

}  // namespace

const OpDef& attention_cached() {
    static const OpDef def{"attention_cached",
                           "attention of new tokens over all that the cache holds",
                           infer,
                           nullptr,
                           cost,
                           workspace,
                           lower};
    return def;
}

}  // namespace causeway::ops
