#pragma once

// The pieces of a tile that attention's kernels share: small register-tiled products, transposed packing, exp2.
// Included by the x.simd.cpp files of this folder only, and in the ISA's own namespace like everything there.

#include <cstdint>

#include "base/limits.hpp"
#include "kernels/arch.hpp"
#include "kernels/attention/attention.hpp"
#include "kernels/integers.hpp"
#include "kernels/transpose.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

inline constexpr std::int64_t max_head_dim = causeway::max_tiled_head_dim;
/// Scores are held times this, so that exponentials are powers of 2.
inline constexpr double log2_e = 1.4426950408889634;
inline constexpr float ln_2 = 0.693147181f;
/// Columns of a micro-kernel's tile: two vectors.
inline constexpr std::int64_t pair = 2 * lanes;
/// Rows of a micro-kernel's tile. 12 x 2 accumulators, two vectors of B and the broadcast A fill 27 of 32 registers and
/// keep two FMA ports busy at 14 loads in 12 cycles; with 16 registers 6 x 2 does the same.
/// AddressSanitizer multiplies unrolled code: 4 rows keep its build to seconds and every path the same.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr int micro_rows = 4;
#elif defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int micro_rows = 12;
#else
inline constexpr int micro_rows = 6;
#endif

/// What the shape alone leaves visible: query i sees keys [i + first, i + end) of those there are.
struct Band {
    std::int64_t first, end, queries, keys;

    std::int64_t first_key(std::int64_t i) const { return most(0, least(i + first, keys)); }
    std::int64_t end_key(std::int64_t i) const { return most(0, least(i + end, keys)); }
    /// The queries that see key j are [first_query(j), end_query(j)).
    std::int64_t first_query(std::int64_t j) const { return most(0, least(j + 1 - end, queries)); }
    std::int64_t end_query(std::int64_t j) const { return most(0, least(j + 1 - first, queries)); }
};

inline Band band_of(const AttentionShape& shape) {
    const std::int64_t past = shape.keys - shape.queries, window = shape.window;  // query 0 is at position `past`
    const std::int64_t unlimited = -(std::int64_t{1} << 40);
    const std::int64_t first = window == 0 ? unlimited : past - window + (shape.causal ? 1 : 0);
    const std::int64_t end = shape.causal ? past + 1 : window == 0 ? shape.keys : past + window + 1;
    return {first, end, shape.queries, shape.keys};
}

/// 0, 1, 2, ... in the lanes.
inline Vec lane_index() {
    alignas(64) float index[lanes];
    for (std::int64_t i = 0; i < lanes; ++i) index[i] = static_cast<float>(i);
    return load(index);
}

/// 2^x for x <= 0, relative error below 1e-7; exactly 1 at 0, exactly 0 at -inf (and below -126, which is flushed).
inline Vec exp2_nonpositive(Vec x) {
#if defined(__AVX512F__)
    const Vec floor(-200.0f);
#else
    const Vec floor(-127.0f);
#endif
    x = xsimd::max(floor, x);               // max returns its second operand when that is NaN
    const Vec shift(12582912.0f + 127.0f);  // 1.5 * 2^23 leaves the rounded x + 127 in the low bits of the sum
    const Vec shifted = x + shift;
    const Vec n = shifted - shift;
    const Vec f = x - n;
    // 2^f on |f| <= 0.5, minimax with p(0) = 1, relative error 2e-9.
    Vec p(0.00015353362068030313f);
    p = xsimd::fma(p, f, Vec(0.0013398874588716851f));
    p = xsimd::fma(p, f, Vec(0.009618437358476686f));
    p = xsimd::fma(p, f, Vec(0.05550332470701595f));
    p = xsimd::fma(p, f, Vec(0.2402264791361118f));
    p = xsimd::fma(p, f, Vec(0.6931472028552531f));
    p = xsimd::fma(p, f, Vec(1.0f));
#if defined(__AVX512F__)
    return _mm512_scalef_ps(p, n);
#else
    return p * float_of(bits_of(shifted) << 23);  // exponent bits n + 127: 0 makes the factor 0
#endif
}

/// What a product does with the tile of C it finds.
enum class Start { zero, add, scale };

/// C (rows, vecs * lanes) = A B, C + A B, or C * alpha + A B with one alpha a column, in registers. B's rows are k, ldb
/// apart; A is read element by element and broadcast: from a[k * lda + r] when by_depth (A^T is what lies in memory),
/// else from a[r * lda + k].
using MicroKernel = void (*)(std::int64_t depth, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                             float* c, std::int64_t ldc, Start start, const float* alpha);

struct MicroKernels {
    MicroKernel of_rows[micro_rows];  ///< [rows - 1]
};

/// [by_depth][vecs - 1]; compiled once, in attention_tile.simd.cpp.
extern const MicroKernels micro_kernels[2][2];

/// Rows [0, rows) of a product are cut into nearly equal tiles of at most micro_rows; tile t begins at row_begin(rows,
/// t).
inline std::int64_t row_tiles(std::int64_t rows) { return divide_up(rows, micro_rows); }
inline std::int64_t row_begin(std::int64_t rows, std::int64_t t) { return rows * t / row_tiles(rows); }

/// Up to micro_rows rows of C (rows, vecs * lanes).
template <bool ByDepth>
void multiply_rows(std::int64_t rows, std::int64_t vecs, std::int64_t depth, const float* a, std::int64_t lda,
                   const float* b, std::int64_t ldb, float* c, std::int64_t ldc, Start start,
                   const float* alpha = nullptr) {
    std::int64_t v = 0;
    for (; v + 2 <= vecs; v += 2) {
        micro_kernels[ByDepth][1].of_rows[rows - 1](depth, a, lda, b + v * lanes, ldb, c + v * lanes, ldc, start,
                                                    alpha ? alpha + v * lanes : nullptr);
    }
    if (v < vecs) {
        micro_kernels[ByDepth][0].of_rows[rows - 1](depth, a, lda, b + v * lanes, ldb, c + v * lanes, ldc, start,
                                                    alpha ? alpha + v * lanes : nullptr);
    }
}

/// C (rows, vecs * lanes) of any size; operands as in MicroKernel.
template <bool ByDepth>
void multiply(std::int64_t rows, std::int64_t vecs, std::int64_t depth, const float* a, std::int64_t lda,
              const float* b, std::int64_t ldb, float* c, std::int64_t ldc, Start start, const float* alpha = nullptr) {
    for (std::int64_t t = 0; t < row_tiles(rows); ++t) {
        const std::int64_t r = row_begin(rows, t);
        multiply_rows<ByDepth>(row_begin(rows, t + 1) - r, vecs, depth, a + (ByDepth ? r : r * lda), lda, b, ldb,
                               c + r * ldc, ldc, start, alpha);
    }
}

/// to (cols, ld) = factor * from (rows, cols; `stride` between rows)^T, rows padded with zeros to whole vectors.
void pack_transposed(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t cols, float factor,
                     float* to, std::int64_t ld);

/// to (rows, cols; `stride` between rows) = (from (cols, ld), each column times its factors[r])^T.
void unpack_transposed(const float* from, std::int64_t ld, std::int64_t rows, std::int64_t cols, const float* factors,
                       float* to, std::int64_t stride);

/// to (rows, ld) = factor * from (rows, cols; `stride` between rows), columns padded with zeros to whole vectors.
inline void pack_rows(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t cols, float factor,
                      float* to, std::int64_t ld) {
    for (std::int64_t r = 0; r < rows; ++r) {
        std::int64_t c = 0;
        for (; c + lanes <= cols; c += lanes) store(to + r * ld + c, load(from + r * stride + c) * Vec(factor));
        if (c < cols) store(to + r * ld + c, load_partial(from + r * stride + c, cols - c) * Vec(factor));
    }
}

/// Whether what is read of one head again and again (K and V, or Q, dO and dQ) is more than about 1 MiB. Rows then come
/// from farther away than L2, each from a page of its own, where the hardware does not prefetch.
inline bool exceeds_l2(const AttentionShape& shape) {
    return most(shape.queries, shape.keys) * shape.head_dim > 128 * 1024;
}

/// Asks for the first n floats at `from`, which a later step reads.
inline void prefetch_row(const float* from, std::int64_t n) {
    for (std::int64_t c = 0; c < n; c += 16) __builtin_prefetch(from + c);
}

/// Head h of sequence b when there is one query: output and log-sum-exp.
void decode_query(const AttentionForwardArgs<float>& args, std::int64_t b, std::int64_t h);

/// Fills the backward part of the table; the forward's add_attention calls it.
void add_attention_backward(AttentionKernels<float>& attention);

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
