#pragma once

// Panels of B copied into the order in which the micro-kernel reads them.

#include "kernels/gemm/microkernel.hpp"
#include "kernels/integers.hpp"
#include "kernels/transpose.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

/// [0, total) in `parts` pieces of equal size, the first ones larger by one where it does not divide.
struct EvenSplit {
    std::int64_t total, parts;
    std::int64_t begin(std::int64_t part) const { return part * (total / parts) + least(part, total % parts); }
};

/// Where a packed panel is written to.
struct IntoCaches {
    static void write(float* to, Vec value) { store(to, value); }
};
struct PastCaches {
    static void write(float* to, Vec value) { stream(to, value); }
};

/// Panel (depth, tile_cols) of B^T, B (cols, depth) with cols <= tile_cols; columns beyond are zero.
template <class Target = IntoCaches>
void pack_panel_nt(const float* b, std::int64_t ldb, std::int64_t cols, std::int64_t depth, float* panel) {
    for (std::int64_t p = 0; p < depth; p += lanes) {
        const std::int64_t steps = least(lanes, depth - p);
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
                for (std::int64_t i = 0; i < lanes; ++i) Target::write(to + i * tile_cols, square[i]);
            } else {
                for (std::int64_t i = 0; i < steps; ++i) Target::write(to + i * tile_cols, square[i]);
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
    for (std::int64_t p = 0; p < depth; ++p) {
        const float* from = b + p * ldb;
        float* to = panel + p * tile_cols;
        if constexpr (has_masked_loads) {
            store(to, load_partial(from, least(cols, lanes)));
            store(to + lanes, cols > lanes ? load_partial(from + lanes, cols - lanes) : Vec(0.0f));
        } else {
            for (std::int64_t j = 0; j < tile_cols; ++j) to[j] = j < cols ? from[j] : 0.0f;
        }
    }
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
