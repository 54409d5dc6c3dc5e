#pragma once

// Copies of A and B in the order in which the micro-kernel reads them.

#include "kernels/gemm/microkernel.hpp"
#include "kernels/gemm/transpose.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

inline std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
inline std::int64_t larger(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
inline std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Panel (depth, tile_cols) of B^T, B (cols, depth) with cols <= tile_cols; columns beyond are zero.
inline void pack_panel_nt(const float* b, std::int64_t ldb, std::int64_t cols, std::int64_t depth, float* panel) {
    for (std::int64_t p = 0; p < depth; p += lanes) {
        const std::int64_t steps = smaller(lanes, depth - p);
        for (std::int64_t half = 0; half < tile_cols; half += lanes) {
            const float* from = b + half * ldb + p;
            Vec square[lanes];
            if (steps == lanes && half + lanes <= cols) {
#pragma GCC unroll 16
                for (std::int64_t i = 0; i < lanes; ++i) square[i] = load(from + i * ldb);
            } else {
                for (std::int64_t i = 0; i < lanes; ++i) {
                    square[i] = half + i < cols ? load_partial(from + i * ldb, steps) : Vec(0.0f);
                }
            }
            transpose(square);
            float* to = panel + p * tile_cols + half;
            if (steps == lanes) {
#pragma GCC unroll 16
                for (std::int64_t i = 0; i < lanes; ++i) store(to + i * tile_cols, square[i]);
            } else {
                for (std::int64_t i = 0; i < steps; ++i) store(to + i * tile_cols, square[i]);
            }
        }
    }
}

/// Panel (depth, tile_cols) of B (depth, cols) with cols <= tile_cols; columns beyond are zero.
inline void pack_panel_nn(const float* b, std::int64_t ldb, std::int64_t cols, std::int64_t depth, float* panel) {
    if (cols == tile_cols) {
        for (std::int64_t p = 0; p < depth; ++p) {
            store(panel + p * tile_cols, load(b + p * ldb));
            store(panel + p * tile_cols + lanes, load(b + p * ldb + lanes));
        }
        return;
    }
    const std::int64_t left = smaller(cols, lanes);
    for (std::int64_t p = 0; p < depth; ++p) {
        store(panel + p * tile_cols, load_partial(b + p * ldb, left));
        store(panel + p * tile_cols + lanes,
              cols > lanes ? load_partial(b + p * ldb + lanes, cols - lanes) : Vec(0.0f));
    }
}

/// Strip (depth, rows) of A (depth, M), rows <= tile_rows. Writes up to lanes floats more than that.
inline void pack_strip(const float* a, std::int64_t lda, std::int64_t rows, std::int64_t depth, float* strip) {
    for (std::int64_t p = 0; p < depth; ++p) {
        const float* from = a + p * lda;
        float* to = strip + p * rows;
        if constexpr (tile_rows <= lanes) {
            store(to, load_partial(from, rows));  // the next step overwrites what is too much
        } else {
            std::int64_t r = 0;
            for (; r + lanes <= rows; r += lanes) store(to + r, load(from + r));
            for (; r < rows; ++r) to[r] = from[r];
        }
    }
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
