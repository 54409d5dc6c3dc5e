#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/attention/attention.hpp"

// What the plain-loop twins of the tiled and the explicit attention share. Included by .ref.cpp files only.

namespace causeway::kernels::reference {

/// Query i sees keys [0, visible_keys(shape, i)).
inline std::int64_t visible_keys(const AttentionShape& shape, std::int64_t i) {
    if (!shape.causal) return shape.keys;
    return std::clamp<std::int64_t>(i + 1 + shape.keys - shape.queries, 0, shape.keys);
}

template <class T>
T dot(const T* x, const T* y, std::int64_t n) {
    T sum = 0;
    for (std::int64_t d = 0; d < n; ++d) sum += x[d] * y[d];
    return sum;
}

/// y += a x
template <class T>
void axpy(T a, const T* x, T* y, std::int64_t n) {
    for (std::int64_t d = 0; d < n; ++d) y[d] += a * x[d];
}

/// Zeroes the rows of one head of a view.
template <class T>
void zero_head(const HeadsView<T>& view, std::int64_t b, std::int64_t tokens, std::int64_t h, std::int64_t head_dim) {
    for (std::int64_t t = 0; t < tokens; ++t) std::fill_n(view.at(b, t, h), head_dim, T{0});
}

}  // namespace causeway::kernels::reference
