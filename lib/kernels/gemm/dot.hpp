#pragma once

// Products of one row with many: the shape of decoding, bound by reading B once.

#include "kernels/gemm/pack.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

/// out[j] = sum over k of a[p] b[j * ldb + p] for j in [0, cols), cols <= lanes.
inline void dot_columns(const float* a, const float* b, std::int64_t ldb, std::int64_t cols, std::int64_t k,
                        float* out) {
    // One stream a column; columns that are not there read the last one again.
    const float* from[lanes];
    Vec sum[lanes];
#pragma GCC unroll 16
    for (std::int64_t j = 0; j < lanes; ++j) {
        from[j] = b + least(j, cols - 1) * ldb;
        sum[j] = Vec(0.0f);
    }
    std::int64_t p = 0;
    for (; p + lanes <= k; p += lanes) {
        const Vec x = load(a + p);
#pragma GCC unroll 16
        for (std::int64_t j = 0; j < lanes; ++j) sum[j] = xsimd::fma(x, load(from[j] + p), sum[j]);
    }
    if (p < k) {
        const Vec x = load_partial(a + p, k - p);
#pragma GCC unroll 16
        for (std::int64_t j = 0; j < lanes; ++j) sum[j] = xsimd::fma(x, load_partial(from[j] + p, k - p), sum[j]);
    }
    transpose(sum);
#pragma GCC unroll 4
    for (std::int64_t width = lanes / 2; width > 0; width /= 2) {
#pragma GCC unroll 8
        for (std::int64_t j = 0; j < width; ++j) sum[j] += sum[j + width];
    }
    store_partial(out, sum[0], cols);
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
