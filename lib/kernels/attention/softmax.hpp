#pragma once

#include <cstdint>

namespace causeway::kernels {

/// Softmax over the last axis, row by row, max-subtracted: y = exp(x - max x) / sum exp(x - max x). Rows [row_begin,
/// row_end) of x, y (rows, cols). y may be x. A row of all -inf gives zeros.
template <class T>
struct SoftmaxKernels {
    void (*forward)(const T* x, T* y, std::int64_t cols, std::int64_t row_begin, std::int64_t row_end);
    /// dx = y o (dy - sum(y o dy)). dx may be dy.
    void (*backward)(const T* y, const T* dy, T* dx, std::int64_t cols, std::int64_t row_begin, std::int64_t row_end);
};

}  // namespace causeway::kernels
