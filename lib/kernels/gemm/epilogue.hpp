#pragma once

// What happens to a finished register tile that cannot go straight to C.

#include "kernels/gemm/gemm.hpp"
#include "kernels/gemm/microkernel.hpp"
#include "kernels/vec_math.hpp"

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

template <Activation activation>
inline Vec activate(Vec x) {
    if constexpr (activation == Activation::gelu_tanh) return gelu_tanh(x);
    if constexpr (activation == Activation::gelu_erf) return gelu_erf(x);
    return x;
}

template <Activation activation>
inline void finish_row(const GemmArgs<float>& args, const Waiting& waiting, std::int64_t r) {
    const GemmEpilogue<float>& epilogue = args.epilogue;
    for (std::int64_t j = 0; j < waiting.cols; j += lanes) {
        const std::int64_t n = waiting.cols - j < lanes ? waiting.cols - j : lanes;
        const std::int64_t col = waiting.col + j;
        const std::int64_t at = (waiting.row + r) * args.ldc + col;
        Vec x = load_partial(waiting.tile + r * tile_cols + j, n);
        if (waiting.on_top_of_c) x += load_partial(args.c + at, n);
        if (epilogue.bias) x += load_partial(epilogue.bias + col, n);
        if (epilogue.pre_activation) store_partial(epilogue.pre_activation + at, x, n);
        x = activate<activation>(x);
        if (epilogue.residual) x += load_partial(epilogue.residual + at, n);
        if (args.accumulate) x += load_partial(args.c + at, n);
        store_partial(args.c + at, x, n);
    }
}

template <Activation activation>
inline void finish_rows(const GemmArgs<float>& args, const Waiting& waiting) {
    for (std::int64_t r = 0; r < waiting.rows; ++r) finish_row<activation>(args, waiting, r);
}

inline void finish(const GemmArgs<float>& args, const Waiting& waiting) {
    switch (args.epilogue.activation) {
        case Activation::none:
            return finish_rows<Activation::none>(args, waiting);
        case Activation::gelu_tanh:
            return finish_rows<Activation::gelu_tanh>(args, waiting);
        case Activation::gelu_erf:
            return finish_rows<Activation::gelu_erf>(args, waiting);
    }
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
