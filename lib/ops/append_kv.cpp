#include <cstring>

#include "base/format.hpp"
#include "ops/attention_shape.hpp"
#include "ops/ops.hpp"

// cache_k[b, h, past[b] + t] = K[b, t, h] for t < count[b], the same for V: what attention reads of earlier tokens.

namespace causeway::ops {
namespace {

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& k = input_desc(graph, node, 1);
    const TensorDesc& v = input_desc(graph, node, 2);
    require_cache(graph, node);
    return {{"cache_k", k, Role::cache, 1}, {"cache_v", v, Role::cache, 2}};
}

/// K and V of the new tokens, read and written.
Cost cost(const Graph& graph, const Node& node) {
    const kernels::AttentionShape shape = attention_shape(node.attributes, graph.shape(node.input(0)));
    const double elements = 2.0 * static_cast<double>(shape.batch * shape.queries * shape.kv_heads * shape.head_dim);
    return {0, 2.0 * elements * static_cast<double>(size_of(graph.value(node.input(0)).desc.dtype))};
}

void lower(LowerContext& context) {
    const kernels::AttentionShape shape = attention_shape(context.attributes(), context.in_shape(0));
    const std::int64_t capacity = context.in_shape(1)[2], tokens = shape.queries, head_dim = shape.head_dim;
    const Cut rows = cut_rows(shape.batch * tokens, 2 * shape.kv_heads * head_dim);
    const BufferRef qkv = context.in(0), past_ref = context.in(3), count_ref = context.in(4);
    const BufferRef cache_k = context.out(0), cache_v = context.out(1);
    context.with_table([&]<class T>(const kernels::KernelTable<T>&) {
        context.stage("", rows.tiles(), cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                          const auto [q, k, v] = split_qkv(run.at<const T>(qkv), shape);
                          const auto to_k = cached_heads(run.at<T>(cache_k), shape, capacity);
                          const auto to_v = cached_heads(run.at<T>(cache_v), shape, capacity);
                          const auto* past = run.at<const std::int32_t>(past_ref);
                          const auto* count = run.at<const std::int32_t>(count_ref);
                          const std::size_t bytes = static_cast<std::size_t>(head_dim) * sizeof(T);
                          for (std::int64_t r = rows.begin(begin); r < rows.begin(end); ++r) {
                              const std::int64_t b = r / tokens, t = r % tokens;
                              if (t >= count[b]) continue;
                              for (std::int64_t h = 0; h < shape.kv_heads; ++h) {
                                  std::memcpy(to_k.at(b, past[b] + t, h), k.at(b, t, h), bytes);
                                  std::memcpy(to_v.at(b, past[b] + t, h), v.at(b, t, h), bytes);
                              }
                          }
                      });
    });
}

}  // namespace

const OpDef& append_kv() {
    static const OpDef def{
        "append_kv", "puts the keys and values of new tokens into the cache", infer, nullptr, cost, nullptr, lower};
    return def;
}

}  // namespace causeway::ops
