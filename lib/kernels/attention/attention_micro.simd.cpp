#include <utility>

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
constexpr MicroKernels make_kernels(std::integer_sequence<int, Index...>) {
    return {{micro_kernel<Index + 1, Vecs, ByDepth>...}};
}

using Rows = std::make_integer_sequence<int, max_rows>;

}  // namespace

const MicroKernels micro_kernels[2][2] = {{make_kernels<1, false>(Rows()), make_kernels<2, false>(Rows())},
                                          {make_kernels<1, true>(Rows()), make_kernels<2, true>(Rows())}};

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
