#pragma once

// Products of a few rows with many: the shape of decoding, bound by reading B once. One core reads B twice as fast in
// the order in which it lies in memory as it reads four of its rows side by side (Zen 4: 29 and 15 GB/s). One row of A
// takes the rows of B one after the other; where several rows of A need columns of C in blocks, those are fetched in
// that order beforehand.

#include "kernels/gemm/pack.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

/// Up to so many rows of A share one reading of B; beyond, panels are faster.
inline constexpr std::int64_t max_dot_rows = 8;

/// Adds the second half of 2 width vectors to the first, and so on until the first has the sum of all. A template, as
/// GCC 14 believes a loop over the widths to leave the array.
template <std::int64_t width>
inline void fold(Vec (&sum)[lanes]) {
#pragma GCC unroll 8
    for (std::int64_t j = 0; j < width; ++j) sum[j] += sum[j + width];
    if constexpr (width > 1) fold<width / 2>(sum);
}

/// Lane l of the result is the sum of the lanes of sum[l].
inline Vec sums_of(Vec (&sum)[lanes]) {
    transpose(sum);
    fold<lanes / 2>(sum);
    return sum[0];
}

/// out[j] = sum over p of a[p] b[j * ldb + p] for j in [0, cols), cols <= lanes.
inline void dot_columns(const float* a, const float* b, std::int64_t ldb, std::int64_t cols, std::int64_t k,
                        float* out) {
    Vec sum[lanes];
    for (std::int64_t j = 0; j < lanes; ++j) sum[j] = Vec(0.0f);
    for (std::int64_t j = 0; j < cols; ++j) {
        const float* row = b + j * ldb;
        Vec even(0.0f), odd(0.0f);
        std::int64_t p = 0;
        for (; p + 2 * lanes <= k; p += 2 * lanes) {
            even = xsimd::fma(load(a + p), load(row + p), even);
            odd = xsimd::fma(load(a + p + lanes), load(row + p + lanes), odd);
        }
        for (; p < k; p += lanes) {
            const std::int64_t n = least(lanes, k - p);
            even = xsimd::fma(load_partial(a + p, n), load_partial(row + p, n), even);
        }
        sum[j] = even + odd;
    }
    store_partial(out, sums_of(sum), cols);
}

/// A row's elements in a register. GCC 12 would load them anew for each product, and loads are what bounds the block.
inline __attribute__((always_inline)) Vec load_once(const float* from) {
    Vec::register_type x = load(from);
    asm("" : "+" CAUSEWAY_VECTOR_REGISTER(x));
    return x;
}

/// A block of R rows of A and C columns of C, at most a sum for each lane of a vector.
template <int R, int C>
struct DotBlock {
    static_assert(R * C <= lanes);

    /// out[i * tile_cols + j] = sum over p of a[i * lda + p] b[j * ldb + p] for i < R and j < cols <= C. The order of
    /// each sum depends on k alone. With `prefetch`, the rows of B after these are fetched, as they lie in memory.
    static void multiply(const float* a, std::int64_t lda, const float* b, std::int64_t ldb, std::int64_t cols,
                         std::int64_t k, bool prefetch, float* out) {
        const float* row[C];  // those that are not there are the last one again
        for (std::int64_t j = 0; j < C; ++j) row[j] = b + least(j, cols - 1) * ldb;
        const float* next = prefetch ? b + C * ldb : b;
        Vec sum[lanes];
#pragma GCC unroll 16
        for (std::int64_t l = 0; l < lanes; ++l) sum[l] = Vec(0.0f);
        std::int64_t p = 0;
        for (; p + lanes <= k; p += lanes) {
            Vec y[C];
#pragma GCC unroll 4
            for (std::int64_t j = 0; j < C; ++j) {
                __builtin_prefetch(next + p * C + j * lanes, 0, 2);  // into L2: L1 holds A
                y[j] = load(row[j] + p);
            }
#pragma GCC unroll 8
            for (int i = 0; i < R; ++i) {
                const Vec x = load_once(a + i * lda + p);
#pragma GCC unroll 4
                for (std::int64_t j = 0; j < C; ++j) sum[i * C + j] = xsimd::fma(x, y[j], sum[i * C + j]);
            }
        }
        if (p < k) {
#pragma GCC unroll 8
            for (int i = 0; i < R; ++i) {
                const Vec x = load_partial(a + i * lda + p, k - p);
#pragma GCC unroll 4
                for (std::int64_t j = 0; j < C; ++j) {
                    sum[i * C + j] = xsimd::fma(x, load_partial(row[j] + p, k - p), sum[i * C + j]);
                }
            }
        }
        alignas(64) float total[lanes];
        store(total, sums_of(sum));
        for (std::int64_t i = 0; i < R; ++i) {
            for (std::int64_t j = 0; j < cols; ++j) out[i * tile_cols + j] = total[i * C + j];
        }
    }

    /// The same with only `rows` rows of A, 1 <= rows <= R.
    static void multiply(std::int64_t rows, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                         std::int64_t cols, std::int64_t k, bool prefetch, float* out) {
        if constexpr (R > 1) {
            if (rows < R) return DotBlock<R - 1, C>::multiply(rows, a, lda, b, ldb, cols, k, prefetch, out);
        }
        multiply(a, lda, b, ldb, cols, k, prefetch, out);
    }
};

/// Columns [0, cols) of m <= max_dot_rows rows, C columns at a time and as many rows as sums then fit a vector.
template <int C>
inline void dot_rows(std::int64_t m, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                     std::int64_t cols, std::int64_t k, float* out) {
    constexpr int block_rows = static_cast<int>(lanes / C);
    for (std::int64_t j = 0; j < cols; j += C) {
        for (std::int64_t r = 0; r < m; r += block_rows) {
            DotBlock<block_rows, C>::multiply(least(block_rows, m - r), a + r * lda, lda, b + j * ldb, ldb,
                                              least(C, cols - j), k, r == 0, out + r * tile_cols + j);
        }
    }
}

/// True when few columns at a time are faster, as more rows then share a reading of B: while those rows stay in L1.
inline bool takes_two_columns(std::int64_t m, std::int64_t k) {
    constexpr std::int64_t most_elements = 6144;  // 24 KiB of 32
    return m > lanes / 4 && least(m, lanes / 2) * k <= most_elements;
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
