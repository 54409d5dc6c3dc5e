#include <algorithm>

#include "kernels/elementwise/activation_ref.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

// Small tiles, so that tests of tile ranges meet many of them.
constexpr std::int64_t tile_rows = 8;
constexpr std::int64_t tile_cols = 8;

template <class T>
void finish(const GemmArgs<T>& args, std::int64_t row, std::int64_t col, T value) {
    const GemmEpilogue<T>& epilogue = args.epilogue;
    const std::int64_t at = row * args.ldc + col;
    if (epilogue.bias) value += epilogue.bias[col];
    if (epilogue.pre_activation) epilogue.pre_activation[at] = value;
    value = activate(epilogue.activation, value);
    if (epilogue.residual) value += epilogue.residual[at];
    args.c[at] = args.accumulate ? args.c[at] + value : value;
}

GemmTiling tiling(GemmForm, std::int64_t m, std::int64_t n, std::int64_t) {
    if (m == 0 || n == 0) return {0, 0, tile_rows, tile_cols};
    return {(m + tile_rows - 1) / tile_rows, (n + tile_cols - 1) / tile_cols, tile_rows, tile_cols};
}

bool wants_packed(GemmForm, std::int64_t, std::int64_t, std::int64_t) { return false; }

// A packed B is its columns one after the other: one panel a column.
std::int64_t packed_elements(std::int64_t n, std::int64_t k) { return n * k; }
std::int64_t panels(std::int64_t n) { return n; }

template <class T>
void pack_nt(const T* b, std::int64_t ldb, std::int64_t, std::int64_t k, T* packed, std::int64_t begin,
             std::int64_t end) {
    for (std::int64_t j = begin; j < end; ++j) std::copy_n(b + j * ldb, k, packed + j * k);
}

template <class T>
void pack_nn(const T* b, std::int64_t ldb, std::int64_t, std::int64_t k, T* packed, std::int64_t begin,
             std::int64_t end) {
    for (std::int64_t j = begin; j < end; ++j) {
        for (std::int64_t p = 0; p < k; ++p) packed[j * k + p] = b[p * ldb + j];
    }
}

/// Element (row, p) of op(A) is a[row * row_step + p * depth_step], element (p, col) of op(B) likewise.
struct Steps {
    std::int64_t a_row, a_depth, b_col, b_depth;
};

template <class T>
void multiply(const GemmArgs<T>& args, GemmForm form, const T* b, Steps steps, std::int64_t tile_begin,
              std::int64_t tile_end) {
    const GemmTiling tiles = tiling(form, args.m, args.n, args.k);
    for (std::int64_t tile = tile_begin; tile < tile_end; ++tile) {
        const std::int64_t row_begin = tile % tiles.row_tiles * tiles.rows;
        const std::int64_t col_begin = tile / tiles.row_tiles * tiles.cols;
        double squares = 0;
        for (std::int64_t row = row_begin; row < std::min(args.m, row_begin + tiles.rows); ++row) {
            for (std::int64_t col = col_begin; col < std::min(args.n, col_begin + tiles.cols); ++col) {
                T sum = 0;
                for (std::int64_t p = 0; p < args.k; ++p) {
                    sum += args.a[row * steps.a_row + p * steps.a_depth] * b[col * steps.b_col + p * steps.b_depth];
                }
                finish(args, row, col, sum);
                const double finished = static_cast<double>(args.c[row * args.ldc + col]);
                squares += finished * finished;
            }
            T* a_sums = form == GemmForm::tn && col_begin == 0 ? args.epilogue.a_sums : nullptr;
            if (a_sums) {
                T sum = 0;
                for (std::int64_t p = 0; p < args.k; ++p) sum += args.a[row * steps.a_row + p * steps.a_depth];
                a_sums[row] = args.accumulate ? a_sums[row] + sum : sum;
            }
        }
        if (form == GemmForm::tn && args.epilogue.square_sums) args.epilogue.square_sums[tile] = squares;
    }
}

template <class T>
void nt(const GemmArgs<T>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    const T* b = args.packed_b ? args.packed_b : args.b;
    multiply(args, GemmForm::nt, b, {args.lda, 1, args.packed_b ? args.k : args.ldb, 1}, tile_begin, tile_end);
}

template <class T>
void nn(const GemmArgs<T>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    if (args.packed_b) {
        multiply(args, GemmForm::nn, args.packed_b, {args.lda, 1, args.k, 1}, tile_begin, tile_end);
    } else {
        multiply(args, GemmForm::nn, args.b, {args.lda, 1, 1, args.ldb}, tile_begin, tile_end);
    }
}

template <class T>
void tn(const GemmArgs<T>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    multiply(args, GemmForm::tn, args.b, {1, args.lda, 1, args.ldb}, tile_begin, tile_end);
}

}  // namespace

template <class T>
void add_gemm(KernelTable<T>& table) {
    table.gemm = {tiling,     wants_packed, packed_elements, 1,     panels, pack_nt<T>,
                  pack_nt<T>, pack_nn<T>,   nt<T>,           nn<T>, tn<T>};
}
template void add_gemm(KernelTable<float>& table);
template void add_gemm(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
