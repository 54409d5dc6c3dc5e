#pragma once

#include <cstdint>

#include "tensor/shape.hpp"

namespace causeway::ops {

/// A weight as the matrices that products read: (N,K) is one, (E,N,K), an expert each, E of them one after the other.
struct Matrices {
    std::int64_t count = 1;
    std::int64_t rows = 0;
    std::int64_t cols = 0;

    explicit Matrices(const Shape& weight)
        : count(weight.rank() == 3 ? weight[0] : 1), rows(weight.back(1)), cols(weight.back()) {}
    std::int64_t elements() const { return rows * cols; }
};

}  // namespace causeway::ops
