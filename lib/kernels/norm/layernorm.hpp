#pragma once

#include <cstdint>

namespace causeway::kernels {

/// LayerNorm over the last axis (Ba, Kiros, Hinton 2016): y = (x - mean) * rstd * weight + bias,
/// rstd = 1 / sqrt(var + eps). The variance is taken about a point of the row, so a large mean costs no accuracy, and a
/// constant row gives exactly the bias.
template <class T>
struct LayerNormForwardArgs {
    const T* x = nullptr;       ///< (rows, cols)
    const T* weight = nullptr;  ///< (cols)
    const T* bias = nullptr;    ///< (cols), may be null
    T* y = nullptr;             ///< (rows, cols); may be x
    T* mean = nullptr;          ///< (rows), may be null together with rstd when not training
    T* rstd = nullptr;          ///< (rows)
    std::int64_t cols = 0;
    double eps = 1e-5;
};

/// xhat = (x - mean) rstd; g = dy weight; dx = rstd (g - mean(g) - xhat mean(g xhat)) [+ dresidual].
/// Parameter gradients go to partial sums a chunk: chunk c covers rows [c, c + 1) * chunk_rows.
template <class T>
struct LayerNormBackwardArgs {
    const T* dy = nullptr;         ///< (rows, cols)
    const T* x = nullptr;          ///< (rows, cols)
    const T* weight = nullptr;     ///< (cols)
    const T* mean = nullptr;       ///< (rows)
    const T* rstd = nullptr;       ///< (rows)
    const T* dresidual = nullptr;  ///< (rows, cols), added to dx; may be null, may be dx
    T* dx = nullptr;               ///< (rows, cols); may be dy
    T* dweight_partial = nullptr;  ///< (chunks, cols), overwritten
    T* dbias_partial = nullptr;    ///< (chunks, cols), overwritten; may be null
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t chunk_rows = 0;
};

template <class T>
struct NormKernels {
    void (*layernorm_forward)(const LayerNormForwardArgs<T>& args, std::int64_t row_begin, std::int64_t row_end);
    void (*layernorm_backward)(const LayerNormBackwardArgs<T>& args, std::int64_t chunk_begin, std::int64_t chunk_end);
};

}  // namespace causeway::kernels
