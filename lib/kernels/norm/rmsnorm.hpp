#pragma once

#include <cstdint>

namespace causeway::kernels {

/// RMSNorm over the last axis (Zhang, Sennrich 2019: "Root Mean Square Layer Normalization"):
/// y = x rstd weight, rstd = 1 / sqrt(mean(x^2) + eps).
template <class T>
struct RmsNormForwardArgs {
    const T* x = nullptr;       ///< (rows, cols)
    const T* weight = nullptr;  ///< (cols)
    T* y = nullptr;             ///< (rows, cols); may be x
    T* rstd = nullptr;          ///< (rows), may be null when not training
    std::int64_t cols = 0;
    double eps = 1e-6;
};

/// xhat = x rstd; g = dy weight; dx = rstd (g - xhat mean(g xhat)) [+ dresidual].
/// The gain's gradient goes to partial sums a chunk: chunk c covers rows [c, c + 1) * chunk_rows.
template <class T>
struct RmsNormBackwardArgs {
    const T* dy = nullptr;         ///< (rows, cols)
    const T* x = nullptr;          ///< (rows, cols)
    const T* weight = nullptr;     ///< (cols)
    const T* rstd = nullptr;       ///< (rows)
    const T* dresidual = nullptr;  ///< (rows, cols), added to dx; may be null, may be dx
    T* dx = nullptr;               ///< (rows, cols); may be dy
    T* dweight_partial = nullptr;  ///< (chunks, cols), overwritten
    std::int64_t rows = 0;
    std::int64_t cols = 0;
    std::int64_t chunk_rows = 0;
};

/// Where Q, K and V lie in a fused row of (heads + 2 kv_heads) head_dim elements: query heads, key heads, value heads.
struct QkvRow {
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;
    std::int64_t normed_heads() const { return heads + kv_heads; }
    std::int64_t width() const { return (heads + 2 * kv_heads) * head_dim; }
};

/// RMSNorm of each head of Q and K inside the fused rows, V as it is (Henry et al. 2020: "Query-Key Normalization";
/// gains as in Qwen3).
template <class T>
struct QkNormForwardArgs {
    const T* qkv = nullptr;       ///< (rows, row.width())
    const T* q_weight = nullptr;  ///< (head_dim)
    const T* k_weight = nullptr;  ///< (head_dim)
    T* y = nullptr;               ///< (rows, row.width()); may be qkv
    T* rstd = nullptr;            ///< (rows, heads + kv_heads), may be null when not training
    QkvRow row;
    double eps = 1e-6;
};

/// The gradient of each head as in RmsNormBackwardArgs; that of V is dy's.
template <class T>
struct QkNormBackwardArgs {
    const T* dy = nullptr;   ///< (rows, row.width())
    const T* qkv = nullptr;  ///< (rows, row.width())
    const T* q_weight = nullptr;
    const T* k_weight = nullptr;
    const T* rstd = nullptr;       ///< (rows, heads + kv_heads)
    T* dqkv = nullptr;             ///< (rows, row.width()); may be dy
    T* dweight_partial = nullptr;  ///< (chunks, 2, head_dim): q's, then k's; overwritten
    QkvRow row;
    std::int64_t rows = 0;
    std::int64_t chunk_rows = 0;
};

template <class T>
struct RmsNormKernels {
    void (*forward)(const RmsNormForwardArgs<T>& args, std::int64_t row_begin, std::int64_t row_end);
    void (*backward)(const RmsNormBackwardArgs<T>& args, std::int64_t chunk_begin, std::int64_t chunk_end);
    void (*qk_forward)(const QkNormForwardArgs<T>& args, std::int64_t row_begin, std::int64_t row_end);
    void (*qk_backward)(const QkNormBackwardArgs<T>& args, std::int64_t chunk_begin, std::int64_t chunk_end);
};

}  // namespace causeway::kernels
