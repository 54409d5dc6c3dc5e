#pragma once

// How a GEMM is cut: tiles between calls (by shape alone), depth blocks and strips inside a tile.

#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/pack.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

#ifndef MAX_ROWS
#define MAX_ROWS 256
#define MAX_DEPTH 512
#define MAX_DEPTH_TN 256
#define MAX_ROWS_TN 192
#endif
inline constexpr std::int64_t max_rows = MAX_ROWS;
inline constexpr std::int64_t max_depth = MAX_DEPTH;
inline constexpr std::int64_t max_rows_tn = MAX_ROWS_TN;
inline constexpr std::int64_t max_depth_tn = MAX_DEPTH_TN;
inline constexpr std::int64_t max_tiles = 32;
inline constexpr std::int64_t tile_work = 1'000'000;

inline std::int64_t panels(std::int64_t n) { return divide_up(n, tile_cols); }

inline GemmTiling tiling(GemmForm form, std::int64_t m, std::int64_t n, std::int64_t k) {
    if (m == 0 || n == 0) return {0, 0, tile_rows, tile_cols};
    const std::int64_t work = larger(m, 8) * n * larger(k, 1);
    const std::int64_t wanted = larger(1, smaller(max_tiles, work / tile_work));
    std::int64_t row_tiles = divide_up(m, form == GemmForm::tn ? max_rows_tn : max_rows);
    const std::int64_t col_tiles = smaller(panels(n), divide_up(wanted, row_tiles));
    if (row_tiles * col_tiles < wanted) {
        row_tiles = larger(row_tiles, smaller(divide_up(m, 2 * tile_rows), divide_up(wanted, col_tiles)));
    }
    const std::int64_t rows = divide_up(m, row_tiles);
    const std::int64_t cols = divide_up(panels(n), col_tiles) * tile_cols;
    return {divide_up(m, rows), divide_up(n, cols), rows, cols};
}

/// [0, total) in `parts` pieces of equal size, the first ones larger by one where it does not divide.
struct EvenSplit {
    std::int64_t total, parts;
    std::int64_t begin(std::int64_t part) const { return part * (total / parts) + smaller(part, total % parts); }
};

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
