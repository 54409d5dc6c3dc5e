#pragma once

#include "kernels/norm/rmsnorm.hpp"  // QkvRow
#include "ops/lowering.hpp"

namespace causeway::ops {

/// The fused row that the attributes heads, kv_heads and head_dim describe. Throws GraphError unless `qkv` is (B,T,W)
/// of its width.
kernels::QkvRow qkv_row(const Attributes& attributes, const Shape& qkv);

}  // namespace causeway::ops
