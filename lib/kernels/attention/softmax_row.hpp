#pragma once

#include <cstdint>

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

/// y (cols) = softmax(x (cols)), zeros when every x is -inf. y may be x. Defined in softmax.simd.cpp.
void softmax_row(const float* x, float* y, std::int64_t cols);

/// The largest of n elements; NaN elements may be passed over, the sum of exponentials shows them. Defined in
/// softmax.simd.cpp.
float row_max(const float* x, std::int64_t n);

/// Sum of x o y over n elements. Defined in softmax.simd.cpp.
float row_dot(const float* x, const float* y, std::int64_t n);

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
