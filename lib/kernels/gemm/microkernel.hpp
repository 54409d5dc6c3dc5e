#pragma once

// The register-tiled inner product of gemm.simd.cpp, compiled once per instruction set.

#include "kernels/arch.hpp"
#include "kernels/sequence.hpp"

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

/// Columns of a tile: two whole vectors, or `cols` of them in two vectors or in one.
enum class Width { full, two, one };

/// Whether loads can leave lanes out at full speed; a narrow panel of B is then read in place.
#if defined(__AVX512F__) || defined(__AVX2__)
inline constexpr bool has_masked_loads = true;
#else
inline constexpr bool has_masked_loads = false;
#endif

/// One tile: out (R, cols) = init + A (R, k) B (k, cols). init: rows ld_init apart (0: the same row for all), null for
/// zero. It may be out.
struct MicroArgs {
    std::int64_t k;
    const float* a;
    std::int64_t lda;
    const float* b;  ///< k rows, ldb apart; of tile_cols floats where !has_masked_loads
    std::int64_t ldb;
    const float* init;
    std::int64_t ld_init;
    float* out;
    std::int64_t ld_out;
    std::int64_t cols;  ///< 1..tile_cols
};
using Micro = void (*)(const MicroArgs&);

/// x in all lanes of a register. GCC would rather fold the broadcast into each multiply-add that uses it, which takes
/// one load more per use than the ports have to give.
inline __attribute__((always_inline)) Vec broadcast(float x) {
    Vec::register_type wide = Vec(x);
    asm("" : "+" CAUSEWAY_VECTOR_REGISTER(wide));
    return wide;
}

/// Loads and stores of one row of a tile, as many vectors as its width has.
template <Width width>
struct Row {
    static constexpr int vectors = width == Width::one ? 1 : 2;
    std::int64_t in_last;  ///< columns in the last vector

    explicit Row(std::int64_t cols) : in_last(width == Width::two ? cols - lanes : cols) {}

    inline __attribute__((always_inline)) Vec get(const float* from, int v) const {
        if (width == Width::full || v + 1 < vectors) return load(from + v * lanes);
        return load_partial(from + v * lanes, in_last);
    }
    inline __attribute__((always_inline)) Vec get_b(const float* from, int v) const {
        return has_masked_loads ? get(from, v) : load(from + v * lanes);
    }
    inline __attribute__((always_inline)) void put(float* to, Vec value, int v) const {
        if (width == Width::full || v + 1 < vectors) return store(to + v * lanes, value);
        store_partial(to + v * lanes, value, in_last);
    }
};

/// R rows of sums in registers.
template <int R, Width width>
struct Accumulators {
    static constexpr int vectors = Row<width>::vectors;
    Vec at[R][vectors];

    inline __attribute__((always_inline)) void load_rows(const float* from, std::int64_t ld, const Row<width>& row) {
#pragma GCC unroll 12
        for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v) at[r][v] = from ? row.get(from + r * ld, v) : Vec(0.0f);
        }
    }
    inline __attribute__((always_inline)) void store_rows(float* to, std::int64_t ld, const Row<width>& row) const {
#pragma GCC unroll 12
        for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v) row.put(to + r * ld, at[r][v], v);
        }
    }
    inline __attribute__((always_inline)) void add(const Accumulators& other) {
#pragma GCC unroll 12
        for (int r = 0; r < R; ++r) {
#pragma GCC unroll 2
            for (int v = 0; v < vectors; ++v) at[r][v] += other.at[r][v];
        }
    }
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
template <int R, Width width>
inline __attribute__((always_inline)) void multiply_step(Accumulators<R, width>& sum, const RowPointers<R>& rows,
                                                         std::int64_t step, const float* b, const Row<width>& row) {
    constexpr int vectors = Row<width>::vectors;
    Vec y[vectors];
#pragma GCC unroll 2
    for (int v = 0; v < vectors; ++v) y[v] = row.get_b(b, v);
#pragma GCC unroll 12
    for (int r = 0; r < R; ++r) {
        const Vec x = broadcast(rows.at[r / 3][r % 3 * step]);
#pragma GCC unroll 2
        for (int v = 0; v < vectors; ++v) sum.at[r][v] = xsimd::fma(x, y[v], sum.at[r][v]);
    }
}

template <int R, Contiguous contiguous, Width width>
void micro(const MicroArgs& args) {
    constexpr bool depth = contiguous == Contiguous::depth;
    // Fewer than 8 accumulators would wait for each other: then even and odd steps (or four kinds) have their own.
    constexpr int accumulators = R * Row<width>::vectors;
    constexpr int ways = accumulators < 4 ? 4 : accumulators < 8 ? 2 : 1;
    const std::int64_t step = depth ? args.lda : 1;
    const std::int64_t advance = depth ? 1 : args.lda;
    const std::int64_t ldb = args.ldb;
    const float* b = args.b;
    const Row<width> row(args.cols);
    RowPointers<R> rows;
#pragma GCC unroll 4
    for (int g = 0; g < rows.groups; ++g) rows.at[g] = args.a + 3 * g * step;

    Accumulators<R, width> sum;
    sum.load_rows(args.init, args.ld_init, row);
    std::int64_t left = args.k;
    if constexpr (ways > 1) {
        Accumulators<R, width> other[ways];
#pragma GCC unroll 4
        for (int w = 1; w < ways; ++w) other[w].load_rows(nullptr, 0, row);
        for (; left >= ways; left -= ways) {
            multiply_step(sum, rows, step, b, row);
            rows.advance(advance);
#pragma GCC unroll 4
            for (int w = 1; w < ways; ++w) {
                multiply_step(other[w], rows, step, b + w * ldb, row);
                rows.advance(advance);
            }
            b += ways * ldb;
        }
#pragma GCC unroll 4
        for (int w = 1; w < ways; ++w) sum.add(other[w]);
    }
    // Not unrolled: GCC then keeps each product beside its loads; the loop's few integer operations are free.
    for (; left > 0; --left) {
        rows.pin();
        multiply_step(sum, rows, step, b, row);
        rows.advance(advance);
        b += ldb;
    }
    sum.store_rows(args.out, args.ld_out, row);
}

/// micro<R, contiguous, width> at [R]; R = 0 is not used.
struct MicroTable {
    Micro of[tile_rows + 1];
};

template <Contiguous contiguous, Width width>
constexpr MicroTable make_micro_table() {
    MicroTable table{};
    [&table]<int... r>(Sequence<r...>) { ((table.of[r + 1] = micro<r + 1, contiguous, width>), ...); }
    (UpTo<tile_rows>{});
    return table;
}
template <Contiguous contiguous, Width width>
inline constexpr MicroTable micro_table = make_micro_table<contiguous, width>();

/// The kernels for tiles of `cols` columns.
template <Contiguous contiguous>
inline const MicroTable& micros(std::int64_t cols) {
    if (cols == tile_cols) return micro_table<contiguous, Width::full>;
    return cols > lanes ? micro_table<contiguous, Width::two> : micro_table<contiguous, Width::one>;
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
