#pragma once

// How a GEMM is cut: tiles between calls (by shape alone), depth blocks and strips inside a tile.

#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/pack.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

// The constants were found on Zen 5 (L1 48 KB, L2 1 MB) and hold wherever L2 has 1 MB or more; nothing breaks
// elsewhere.

/// Rows of A a tile (nt, nn): 128 rows of 768 floats are 384 KB, which stay in L2 while panels of B pass through it.
inline constexpr std::int64_t max_rows = 128;
/// Steps of k between two visits of C (nt, nn). Up to here a longer sum in registers gains more than a panel that fits
/// L1: panels are read front to back, and L2 has several times the bandwidth that 12 rows need.
inline constexpr std::int64_t max_depth = 1024;
/// tn reads A and B across their rows, a line or two of each a step: 256 steps of 192 columns of A and a panel of B are
/// what L2 and the TLB still hold.
inline constexpr std::int64_t max_rows_tn = 192;
inline constexpr std::int64_t max_depth_tn = 256;
/// Elements of B under one column of tiles, if more than one tile: 1 MB, which the next tile finds in L2 or near it.
inline constexpr std::int64_t max_shared = 256 * 1024;
/// Beyond this depth neither A nor B of a tile stays in any cache, and a tile's columns are the times a block of A is
/// used: then there are at least so many, and rows are not cut any further.
inline constexpr std::int64_t deep = 4096;
inline constexpr std::int64_t deep_cols = 6 * tile_cols;
/// Each tile reads its part of A and B anew: 16 tiles are a few per cent faster than 32 on one thread, and still enough
/// for 16.
inline constexpr std::int64_t max_tiles = 16;
/// Multiply-adds worth a tile of their own: about 8 us; smaller products are not shared between threads.
inline constexpr std::int64_t tile_work = 1'000'000;

inline std::int64_t panels(std::int64_t n) { return divide_up(n, tile_cols); }

inline GemmTiling tiling(GemmForm form, std::int64_t m, std::int64_t n, std::int64_t k) {
    if (m == 0 || n == 0) return {0, 0, tile_rows, tile_cols};
    const std::int64_t work = most(m, 8) * n * most(k, 1);
    const std::int64_t wanted = most(1, least(max_tiles, work / tile_work));
    std::int64_t row_tiles = divide_up(m, form == GemmForm::tn ? max_rows_tn : max_rows);
    std::int64_t col_tiles = row_tiles == 1 || k > deep ? 1 : most(1, least(panels(n), divide_up(n * k, max_shared)));
    // The longer side is cut, unless B is streamed from packed panels (nt, nn): then all rows should use a panel while
    // it is in cache, and columns are cut as long as there are any. A small B is there all the time; then rows are cut,
    // so that a thread's tiles are rows of C that it finds in its own cache when the next product reads them.
    const bool rows_first = form != GemmForm::tn && n * k <= max_shared;
    while (row_tiles * col_tiles < wanted) {
        const std::int64_t rows = divide_up(m, row_tiles);
        const std::int64_t cols = divide_up(n, col_tiles);
        const bool can_cut_rows = rows >= 4 * tile_rows && (k <= deep || form == GemmForm::tn);
        const bool can_cut_cols = cols > (k > deep && form != GemmForm::tn ? deep_cols : tile_cols);
        const bool prefer_rows = rows_first || (form == GemmForm::tn && rows > cols);
        if (can_cut_cols && !(can_cut_rows && prefer_rows)) {
            ++col_tiles;
        } else if (can_cut_rows) {
            ++row_tiles;
        } else {
            break;
        }
    }
    const std::int64_t rows = divide_up(m, row_tiles);
    const std::int64_t cols = divide_up(panels(n), least(panels(n), col_tiles)) * tile_cols;
    return {divide_up(m, rows), divide_up(n, cols), rows, cols};
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
