#pragma once

#include <cstdint>

#include "kernels/gemm/gemm.hpp"  // Activation

namespace causeway::kernels {

/// Maps over elements [begin, end). Outputs may be any of the inputs.
template <class T>
struct ElementwiseKernels {
    /// y = a + b
    void (*add)(const T* a, const T* b, T* y, std::int64_t begin, std::int64_t end);
    /// y = activation(x); the right limits at large |x|: gelu(-big) = 0, gelu(big) = big, gelu(+-inf) = inf, 0; silu
    /// and relu the same.
    void (*activation_forward)(Activation kind, const T* x, T* y, std::int64_t begin, std::int64_t end);
    /// dx = dy activation'(x); gelu's derivative is exactly 0 or 1 for |x| >= 20, none is NaN at +-inf.
    void (*activation_backward)(Activation kind, const T* x, const T* dy, T* dx, std::int64_t begin, std::int64_t end);
    /// y = value
    void (*fill)(T* y, T value, std::int64_t begin, std::int64_t end);
    /// y = exp(x), tanh(x), erf(x): the vector functions every other kernel is built from, for tests and benchmarks.
    void (*exp)(const T* x, T* y, std::int64_t begin, std::int64_t end);
    void (*tanh)(const T* x, T* y, std::int64_t begin, std::int64_t end);
    void (*erf)(const T* x, T* y, std::int64_t begin, std::int64_t end);
    /// y[c] = (or += when accumulate) sum over rows r, in order, of x[r, c], c in [col_begin, col_end). x (rows, cols)
    /// with leading dimension ld. Partial sums of norms and bias gradients end here.
    void (*column_sums)(const T* x, std::int64_t ld, std::int64_t rows, T* y, bool accumulate, std::int64_t col_begin,
                        std::int64_t col_end);
};

}  // namespace causeway::kernels
