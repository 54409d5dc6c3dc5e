#pragma once

#include "kernels/attention/attention.hpp"

namespace causeway::kernels {

/// FLOPs of one product over the visible (query, key) pairs of all heads: two for each pair and element of head_dim.
inline double attention_product_flops(const AttentionShape& shape) {
    const auto queries = static_cast<double>(shape.queries), keys = static_cast<double>(shape.keys);
    const double rows = queries < keys ? queries : keys;  // that see a key at all, the last one sees all of them
    const double pairs = shape.causal ? rows * keys - rows * (rows - 1) / 2 : queries * keys;
    return 2.0 * static_cast<double>(shape.batch * shape.heads * shape.head_dim) * pairs;
}

}  // namespace causeway::kernels
