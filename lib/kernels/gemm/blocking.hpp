#pragma once

// How a GEMM is cut: tiles between calls (by shape alone), depth blocks and strips inside a tile.

#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/pack.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

#ifndef MAX_ROWS
#define MAX_ROWS 128
#define MAX_DEPTH 1024
#define MAX_DEPTH_TN 512
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
    std::int64_t col_tiles = 1;
    // The longer side is cut, unless B is streamed from packed panels (nt, nn): then all rows should use a panel while
    // it is in cache, and columns are cut as long as there are any.
    while (row_tiles * col_tiles < wanted) {
        const std::int64_t rows = divide_up(m, row_tiles);
        const std::int64_t cols = divide_up(n, col_tiles);
        const bool can_cut_rows = rows >= 4 * tile_rows;
        const bool can_cut_cols = cols > tile_cols;
        if (can_cut_cols && (form != GemmForm::tn || cols >= rows || !can_cut_rows)) {
            ++col_tiles;
        } else if (can_cut_rows) {
            ++row_tiles;
        } else {
            break;
        }
    }
    const std::int64_t rows = divide_up(m, row_tiles);
    const std::int64_t cols = divide_up(panels(n), smaller(panels(n), col_tiles)) * tile_cols;
    return {divide_up(m, rows), divide_up(n, cols), rows, cols};
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
