#pragma once

// The register-tiled inner product of gemm.simd.cpp, compiled once per instruction set.

#include "kernels/arch.hpp"
#include "kernels/gemm/sequence.hpp"

#if defined(__x86_64__)
#define CAUSEWAY_VECTOR_REGISTER "v"
#elif defined(__aarch64__)
#define CAUSEWAY_VECTOR_REGISTER "w"
#endif

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

// The register tile is tile_rows x (2 vectors) of C. With 32 registers 12 rows: 24 accumulators, 2 vectors of B and an
// element of A in all lanes; 14 loads feed 24 multiply-adds, which two load ports and two FMA ports do in 12 cycles.
// With 16 registers 6 rows: 12 accumulators, and 12 are still more than latency x ports = 8.
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr int tile_rows = 12;
#else
inline constexpr int tile_rows = 6;
#endif
inline constexpr std::int64_t tile_cols = 2 * lanes;  ///< width of a panel of B

/// How the rows of A lie: `depth` contiguous in k, row r at a + r * lda (nt, nn); `rows` contiguous across the rows,
/// step k at a + k * lda (tn, and A packed).
enum class Contiguous { depth, rows };

/// One tile: out (R, tile_cols) = init + A (R, k) B (k, tile_cols). init: rows ld_init apart (0: the same row for all),
/// null for zero. It may be out.
struct MicroArgs {
    std::int64_t k;
    const float* a;
    std::int64_t lda;
    const float* b;  ///< k rows of tile_cols, ldb apart
    std::int64_t ldb;
    const float* init;
    std::int64_t ld_init;
    float* out;
    std::int64_t ld_out;
};
using Micro = void (*)(const MicroArgs&);

/// x in all lanes of a register. GCC would rather fold the broadcast into each multiply-add that uses it, which takes
/// one load more per use than the ports have to give.
inline __attribute__((always_inline)) Vec broadcast(float x) {
    Vec::register_type wide = Vec(x);
    asm("" : "+" CAUSEWAY_VECTOR_REGISTER(wide));
    return wide;
}

template <int R>
struct Accumulators {
    Vec left[R], right[R];
};

/// Where the R rows of A stand. Three rows share a pointer (at 0, 1 and 2 times the step between rows), so that all
/// addresses fit x86's general registers; the barrier keeps GCC from deriving one pointer from another, which it then
/// spills.
template <int R>
struct RowPointers {
    static constexpr int groups = (R + 2) / 3;
    const float* at[groups];

    inline __attribute__((always_inline)) void pin() {
#pragma GCC unroll 4
        for (int g = 0; g < groups; ++g) asm("" : "+r"(at[g]));
    }
    inline __attribute__((always_inline)) void advance(std::int64_t by) {
#pragma GCC unroll 4
        for (int g = 0; g < groups; ++g) at[g] += by;
    }
};

/// sum += A[:, p] B[p, :] for one p: element r of A's column is at rows.at[r / 3][(r % 3) * step].
template <int R>
inline __attribute__((always_inline)) void multiply_step(Accumulators<R>& sum, const RowPointers<R>& rows,
                                                         std::int64_t step, const float* b) {
    const Vec b0 = load(b);
    const Vec b1 = load(b + lanes);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
        const Vec x = broadcast(rows.at[r / 3][r % 3 * step]);
        sum.left[r] = xsimd::fma(x, b0, sum.left[r]);
        sum.right[r] = xsimd::fma(x, b1, sum.right[r]);
    }
}

template <int R>
inline __attribute__((always_inline)) void add(Accumulators<R>& sum, const Accumulators<R>& other) {
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
        sum.left[r] += other.left[r];
        sum.right[r] += other.right[r];
    }
}

template <int R>
inline __attribute__((always_inline)) Accumulators<R> load_rows(const float* from, std::int64_t ld) {
    Accumulators<R> sum;
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
        sum.left[r] = from ? load(from + r * ld) : Vec(0.0f);
        sum.right[r] = from ? load(from + r * ld + lanes) : Vec(0.0f);
    }
    return sum;
}

template <int R, Contiguous contiguous>
void micro(const MicroArgs& args) {
    constexpr bool depth = contiguous == Contiguous::depth;
    // Fewer than 8 accumulators would wait for each other: then even and odd steps (or four kinds) have their own.
    constexpr int ways = R == 1 ? 4 : R <= 3 ? 2 : 1;
    const std::int64_t step = depth ? args.lda : 1;
    const std::int64_t advance = depth ? 1 : args.lda;
    const std::int64_t ldb = args.ldb;
    const float* b = args.b;
    RowPointers<R> rows;
#pragma GCC unroll 4
    for (int g = 0; g < rows.groups; ++g) rows.at[g] = args.a + 3 * g * step;

    Accumulators<R> sum = load_rows<R>(args.init, args.ld_init);
    std::int64_t left = args.k;
    if constexpr (ways > 1) {
        Accumulators<R> other[ways];
#pragma GCC unroll 4
        for (int w = 1; w < ways; ++w) other[w] = load_rows<R>(nullptr, 0);
        for (; left >= ways; left -= ways) {
            multiply_step(sum, rows, step, b);
            rows.advance(advance);
#pragma GCC unroll 4
            for (int w = 1; w < ways; ++w) {
                multiply_step(other[w], rows, step, b + w * ldb);
                rows.advance(advance);
            }
            b += ways * ldb;
        }
#pragma GCC unroll 4
        for (int w = 1; w < ways; ++w) add(sum, other[w]);
    }
    // Not unrolled: GCC then keeps each product beside its loads; the loop's few integer operations are free.
    for (; left > 0; --left) {
        rows.pin();
        multiply_step(sum, rows, step, b);
        rows.advance(advance);
        b += ldb;
    }
    float* out = args.out;
    const std::int64_t ld_out = args.ld_out;
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
        store(out + r * ld_out, sum.left[r]);
        store(out + r * ld_out + lanes, sum.right[r]);
    }
}

template <Contiguous contiguous>
struct MicroTable {
    Micro of[tile_rows + 1];
};

/// micro<R, contiguous> at [R]; R = 0 is not used.
template <Contiguous contiguous>
constexpr MicroTable<contiguous> make_micro_table() {
    MicroTable<contiguous> table{};
    [&table]<int... r>(Sequence<r...>) { ((table.of[r + 1] = micro<r + 1, contiguous>), ...); }
    (UpTo<tile_rows>{});
    return table;
}
template <Contiguous contiguous>
inline constexpr MicroTable<contiguous> micros = make_micro_table<contiguous>();

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
