#pragma once

#include <algorithm>

#include "kernels/attention/attention.hpp"

namespace causeway::kernels {

/// (query, key) pairs of one head that the shape leaves visible; masks are known only when a plan runs. O(Tq).
inline double visible_pairs(const AttentionShape& shape) {
    double pairs = 0;
    for (std::int64_t i = 0; i < shape.queries; ++i) {
        const std::int64_t position = i + shape.keys - shape.queries;
        std::int64_t first = 0, end = shape.keys;
        if (shape.causal) end = position + 1;
        if (shape.window > 0) {
            first = shape.causal ? position - shape.window + 1 : position - shape.window;
            if (!shape.causal) end = position + shape.window + 1;
        }
        first = std::max<std::int64_t>(first, 0);
        pairs += static_cast<double>(std::max<std::int64_t>(0, std::min(end, shape.keys) - first));
    }
    return pairs;
}

/// FLOPs of one product over the visible pairs of all heads: two for each pair and element of head_dim.
inline double attention_product_flops(const AttentionShape& shape) {
    return 2.0 * static_cast<double>(shape.batch * shape.heads * shape.head_dim) * visible_pairs(shape);
}

}  // namespace causeway::kernels
