#pragma once

#include <cstdint>

#include "tensor/shape.hpp"

namespace causeway::ops {

/// Tiles in which moe_linear_weight_gradient makes a gradient (E,N,K), and so the partial sums of squares it can give.
std::int64_t moe_gradient_tiles(const Shape& gradient);

}  // namespace causeway::ops
