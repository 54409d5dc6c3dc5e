#pragma once

// Products of a few rows with many: the shape of decoding, bound by reading B once.

#include "kernels/gemm/pack.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

/// Columns of C that are worked on at a time, a stream of B each: enough to hide the latency of sums, few enough for
/// the prefetchers to follow (16 streams lose a tenth of the bandwidth).
inline constexpr std::int64_t dot_cols = 4;
/// Up to so many rows of A share one reading of B; beyond, panels are faster.
inline constexpr std::int64_t max_dot_rows = 8;
/// Rows of A in a block: with dot_cols columns as many sums as a vector has lanes.
inline constexpr int dot_rows = static_cast<int>(lanes / dot_cols);

/// Lane l of the result is the sum of the lanes of sum[l].
inline Vec sums_of(Vec (&sum)[lanes]) {
    transpose(sum);
#pragma GCC unroll 4
    for (std::int64_t width = lanes / 2; width > 0; width /= 2) {
#pragma GCC unroll 8
        for (std::int64_t j = 0; j < width; ++j) sum[j] += sum[j + width];
    }
    return sum[0];
}

/// The rows of B under dot_cols columns of C; those that are not there are the last one again.
struct DotStreams {
    const float* at[dot_cols];

    DotStreams(const float* b, std::int64_t ldb, std::int64_t first, std::int64_t cols) {
#pragma GCC unroll 4
        for (std::int64_t j = 0; j < dot_cols; ++j) at[j] = b + least(first + j, cols - 1) * ldb;
    }
};

/// out[j] = sum over k of a[p] b[j * ldb + p] for j in [0, cols), cols <= lanes.
inline void dot_columns(const float* a, const float* b, std::int64_t ldb, std::int64_t cols, std::int64_t k,
                        float* out) {
    Vec sum[lanes];
#pragma GCC unroll 4
    for (std::int64_t first = 0; first < lanes; first += dot_cols) {
        const DotStreams from(b, ldb, first, cols);
        Vec even[dot_cols], odd[dot_cols];
#pragma GCC unroll 4
        for (std::int64_t j = 0; j < dot_cols; ++j) even[j] = odd[j] = Vec(0.0f);
        std::int64_t p = 0;
        for (; p + 2 * lanes <= k; p += 2 * lanes) {
            const Vec x = load(a + p), y = load(a + p + lanes);
#pragma GCC unroll 4
            for (std::int64_t j = 0; j < dot_cols; ++j) {
                even[j] = xsimd::fma(x, load(from.at[j] + p), even[j]);
                odd[j] = xsimd::fma(y, load(from.at[j] + p + lanes), odd[j]);
            }
        }
        for (; p < k; p += lanes) {
            const std::int64_t n = least(lanes, k - p);
            const Vec x = load_partial(a + p, n);
#pragma GCC unroll 4
            for (std::int64_t j = 0; j < dot_cols; ++j) {
                even[j] = xsimd::fma(x, load_partial(from.at[j] + p, n), even[j]);
            }
        }
#pragma GCC unroll 4
        for (std::int64_t j = 0; j < dot_cols; ++j) sum[first + j] = even[j] + odd[j];
    }
    store_partial(out, sums_of(sum), cols);
}

/// A row's elements in a register. GCC 12 would load them anew for each product, and loads are what bounds the block.
inline __attribute__((always_inline)) Vec load_once(const float* from) {
    Vec::register_type x = load(from);
    asm("" : "+" CAUSEWAY_VECTOR_REGISTER(x));
    return x;
}

/// out[i * dot_cols + j] = sum over p of a[i * lda + p] b[j * ldb + p] for i < R and j < cols <= dot_cols. The order of
/// each sum does not depend on R. With `prefetch`, the rows of B after these are asked for: the products of several
/// rows leave too few loads of B under way.
template <int R>
inline void dot_block(const float* a, std::int64_t lda, const float* b, std::int64_t ldb, std::int64_t cols,
                      std::int64_t k, bool prefetch, float* out) {
    static_assert(R <= dot_rows);
    const DotStreams from(b, ldb, 0, cols);
    const std::int64_t ahead = prefetch ? dot_cols * ldb : 0;
    Vec sum[lanes];
#pragma GCC unroll 16
    for (std::int64_t l = 0; l < lanes; ++l) sum[l] = Vec(0.0f);
    std::int64_t p = 0;
    for (; p + lanes <= k; p += lanes) {
        Vec y[dot_cols];
#pragma GCC unroll 4
        for (std::int64_t j = 0; j < dot_cols; ++j) {
            __builtin_prefetch(from.at[j] + p + ahead);
            y[j] = load(from.at[j] + p);
        }
#pragma GCC unroll 4
        for (int i = 0; i < R; ++i) {
            const Vec x = load_once(a + i * lda + p);
#pragma GCC unroll 4
            for (std::int64_t j = 0; j < dot_cols; ++j) {
                sum[i * dot_cols + j] = xsimd::fma(x, y[j], sum[i * dot_cols + j]);
            }
        }
    }
    if (p < k) {
#pragma GCC unroll 4
        for (int i = 0; i < R; ++i) {
            const Vec x = load_partial(a + i * lda + p, k - p);
#pragma GCC unroll 4
            for (std::int64_t j = 0; j < dot_cols; ++j) {
                sum[i * dot_cols + j] = xsimd::fma(x, load_partial(from.at[j] + p, k - p), sum[i * dot_cols + j]);
            }
        }
    }
    store(out, sums_of(sum));
}

constexpr int least_rows(int rows) { return rows < dot_rows ? rows : dot_rows; }

/// dot_block<rows>, 1 <= rows <= dot_rows.
inline void dot_block(std::int64_t rows, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                      std::int64_t cols, std::int64_t k, bool prefetch, float* out) {
    switch (rows) {
        case 1:
            return dot_block<1>(a, lda, b, ldb, cols, k, prefetch, out);
        case 2:
            return dot_block<least_rows(2)>(a, lda, b, ldb, cols, k, prefetch, out);
        case 3:
            return dot_block<least_rows(3)>(a, lda, b, ldb, cols, k, prefetch, out);
        default:
            return dot_block<dot_rows>(a, lda, b, ldb, cols, k, prefetch, out);
    }
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
