#pragma once

#include <cstdint>

#include "kernels/dropout/dropout.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

/// Columns that one round of counters covers: ranges of columns begin at a multiple of it.
inline constexpr std::int64_t dropout_columns = 32;

/// factors[c - begin] = 0 or mask.scale for columns [begin, end) of (row, head, query); writes up to the next multiple
/// of dropout_columns. Defined in dropout.simd.cpp.
void dropout_factors(const DropoutMask& mask, std::int64_t row, std::int64_t head, std::int64_t query,
                     std::int64_t begin, std::int64_t end, float* factors);

/// y[c - begin] = x[c - begin] times the factors, for columns [begin, end). y may be x. Defined in dropout.simd.cpp.
void drop(const DropoutMask& mask, std::int64_t row, std::int64_t head, std::int64_t query, std::int64_t begin,
          std::int64_t end, const float* x, float* y);

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
