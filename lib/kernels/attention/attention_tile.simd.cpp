#include "kernels/attention/attention_tile.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

template <int Rows, int Vecs, bool ByDepth>
void micro_kernel(std::int64_t depth, const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float* c,
                  std::int64_t ldc, Start start, const float* alpha) {
    Vec acc[Rows][Vecs];
#pragma GCC unroll 12
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < Vecs; ++v) acc[r][v] = Vec(0.0f);
    }
    if (start != Start::zero) {
#pragma GCC unroll 12
        for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
            for (int v = 0; v < Vecs; ++v) acc[r][v] = load(c + r * ldc + v * lanes);
        }
    }
    if (start == Start::scale) {
#pragma GCC unroll 12
        for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
            for (int v = 0; v < Vecs; ++v) acc[r][v] = acc[r][v] * load(alpha + v * lanes);
        }
    }
    for (std::int64_t k = 0; k < depth; ++k) {
        Vec column[Vecs];
#pragma GCC unroll 2
        for (int v = 0; v < Vecs; ++v) column[v] = load(b + k * ldb + v * lanes);
#pragma GCC unroll 12
        for (int r = 0; r < Rows; ++r) {
            const Vec row(ByDepth ? a[k * lda + r] : a[r * lda + k]);
#pragma GCC unroll 2
            for (int v = 0; v < Vecs; ++v) acc[r][v] = xsimd::fma(row, column[v], acc[r][v]);
        }
    }
#pragma GCC unroll 12
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 2
        for (int v = 0; v < Vecs; ++v) store(c + r * ldc + v * lanes, acc[r][v]);
    }
}

template <int Vecs, bool ByDepth, int... Index>
constexpr MicroKernels make_kernels(Sequence<Index...>) {
    return {{micro_kernel<Index + 1, Vecs, ByDepth>...}};
}

using Rows = UpTo<micro_rows>;

}  // namespace

const MicroKernels micro_kernels[2][2] = {{make_kernels<1, false>(Rows()), make_kernels<2, false>(Rows())},
                                          {make_kernels<1, true>(Rows()), make_kernels<2, true>(Rows())}};

void pack_transposed(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t cols, float factor,
                     float* to, std::int64_t ld) {
    for (std::int64_t r = 0; r < rows; r += lanes) {
        const std::int64_t height = least(lanes, rows - r);
        for (std::int64_t c = 0; c < cols; c += lanes) {
            const std::int64_t width = least(lanes, cols - c);
            const float* corner = from + r * stride + c;
            float* column = to + c * ld + r;
            Vec x[lanes];
            if (height == lanes && width == lanes) {
#pragma GCC unroll 16
                for (std::int64_t i = 0; i < lanes; ++i) x[i] = load(corner + i * stride);
                transpose(x);
#pragma GCC unroll 16
                for (std::int64_t i = 0; i < lanes; ++i) store(column + i * ld, x[i] * Vec(factor));
            } else {
                for (std::int64_t i = 0; i < lanes; ++i) {
                    x[i] = i < height ? load_partial(corner + i * stride, width) : Vec(0.0f);
                }
                transpose(x);
                for (std::int64_t i = 0; i < width; ++i) store(column + i * ld, x[i] * Vec(factor));
            }
        }
    }
}

void unpack_transposed(const float* from, std::int64_t ld, std::int64_t rows, std::int64_t cols, const float* factors,
                       float* to, std::int64_t stride) {
    for (std::int64_t r = 0; r < rows; r += lanes) {
        const std::int64_t height = least(lanes, rows - r);
        const Vec factor = load(factors + r);
        for (std::int64_t c = 0; c < cols; c += lanes) {
            const std::int64_t width = least(lanes, cols - c);
            float* corner = to + r * stride + c;
            Vec x[lanes];
            if (height == lanes && width == lanes) {
#pragma GCC unroll 16
                for (std::int64_t i = 0; i < lanes; ++i) x[i] = load(from + (c + i) * ld + r) * factor;
                transpose(x);
#pragma GCC unroll 16
                for (std::int64_t i = 0; i < lanes; ++i) store(corner + i * stride, x[i]);
            } else {
                for (std::int64_t i = 0; i < lanes; ++i) {
                    x[i] = i < width ? load(from + (c + i) * ld + r) * factor : Vec(0.0f);
                }
                transpose(x);
                for (std::int64_t i = 0; i < height; ++i) store_partial(corner + i * stride, x[i], width);
            }
        }
    }
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
