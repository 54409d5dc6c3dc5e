#pragma once

#include "kernels/attention/attention.hpp"
#include "ops/lowering.hpp"

namespace causeway::ops {

/// The kernel's problem from the attributes heads, kv_heads, head_dim, scale, causal, [window] and the shape of the
/// fused qkv (B,T,(H + 2 Hkv) Dh). Throws GraphError when they disagree.
kernels::AttentionShape attention_shape(const Attributes& attributes, const Shape& qkv);

/// Q, K and V inside the fused qkv, and O (B,T,H Dh), as views that the kernels read in place.
template <class T>
struct QkvViews {
    kernels::HeadsView<T> q, k, v;
};

template <class T>
QkvViews<T> split_qkv(T* qkv, const kernels::AttentionShape& shape) {
    const std::int64_t width = (shape.heads + 2 * shape.kv_heads) * shape.head_dim;
    const auto view = [&](std::int64_t first_head) {
        return kernels::HeadsView<T>{qkv + first_head * shape.head_dim, shape.keys * width, width, shape.head_dim};
    };
    return {view(0), view(shape.heads), view(shape.heads + shape.kv_heads)};
}

template <class T>
kernels::HeadsView<T> merged_heads(T* out, const kernels::AttentionShape& shape) {
    const std::int64_t width = shape.heads * shape.head_dim;
    return {out, shape.queries * width, width, shape.head_dim};
}

/// The cost of a node over the fused qkv, its input 0: so many products over the visible (query, key) pairs.
Cost attention_cost(const Graph& graph, const Node& node, double products);

}  // namespace causeway::ops
