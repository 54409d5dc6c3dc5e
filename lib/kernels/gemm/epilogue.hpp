#pragma once

// What happens to a finished register tile that cannot go straight to C.

#include "kernels/elementwise/activate.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/microkernel.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

/// True when C = init + A B is all there is, init being zero, the bias or C itself.
inline bool is_plain(const GemmArgs<float>& args) {
    const GemmEpilogue<float>& epilogue = args.epilogue;
    return epilogue.activation == Activation::none && !epilogue.pre_activation && !epilogue.residual &&
           !(args.accumulate && epilogue.bias);
}

/// A finished tile that waits in a buffer of tile_cols columns for its place in C.
struct Waiting {
    const float* tile;
    std::int64_t row, rows;
    std::int64_t col, cols;  ///< cols <= tile_cols
    bool on_top_of_c;        ///< C holds an earlier part of the sum
};

/// Asks for what finish() reads and writes beside the tile. Rows of a few lines each, far apart and long unused:
/// finish() would wait for every one, while the product before takes longer than memory does.
inline void prefetch_operands(const GemmArgs<float>& args, std::int64_t row, std::int64_t rows, std::int64_t col,
                              std::int64_t cols) {
    const GemmEpilogue<float>& epilogue = args.epilogue;
    for (std::int64_t r = row; r < row + rows; ++r) {
        for (std::int64_t j = col; j < col + cols; j += 16) {
            const std::int64_t at = r * args.ldc + j;
            if (epilogue.residual) __builtin_prefetch(epilogue.residual + at, 0, 3);
            if (epilogue.pre_activation) __builtin_prefetch(epilogue.pre_activation + at, 1, 3);
            __builtin_prefetch(args.c + at, 1, 3);
        }
    }
}

/// One row; `whole` says that its columns are tile_cols, so that no access needs a mask.
template <Activation activation, bool whole>
inline void finish_row(const GemmArgs<float>& args, const Waiting& waiting, std::int64_t r) {
    const GemmEpilogue<float>& epilogue = args.epilogue;
    const std::int64_t cols = whole ? tile_cols : waiting.cols;
    for (std::int64_t j = 0; j < cols; j += lanes) {
        const std::int64_t n = cols - j < lanes ? cols - j : lanes;
        const auto get = [n](const float* from) { return whole ? load(from) : load_partial(from, n); };
        const auto put = [n](float* to, Vec x) { whole ? store(to, x) : store_partial(to, x, n); };
        const std::int64_t col = waiting.col + j;
        const std::int64_t at = (waiting.row + r) * args.ldc + col;
        Vec x = get(waiting.tile + r * tile_cols + j);
        if (waiting.on_top_of_c) x += get(args.c + at);
        if (epilogue.bias) x += get(epilogue.bias + col);
        if (epilogue.pre_activation) put(epilogue.pre_activation + at, x);
        x = activate<activation>(x);
        if (epilogue.residual) x += get(epilogue.residual + at);
        if (args.accumulate) x += get(args.c + at);
        put(args.c + at, x);
    }
}

template <Activation activation>
inline void finish_rows(const GemmArgs<float>& args, const Waiting& waiting) {
    if (waiting.cols == tile_cols) {
        for (std::int64_t r = 0; r < waiting.rows; ++r) finish_row<activation, true>(args, waiting, r);
    } else {
        for (std::int64_t r = 0; r < waiting.rows; ++r) finish_row<activation, false>(args, waiting, r);
    }
}

inline void finish(const GemmArgs<float>& args, const Waiting& waiting) {
    with_activation(args.epilogue.activation, [&](auto kind) { finish_rows<decltype(kind)::value>(args, waiting); });
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
