#pragma once

#include <cstdint>

namespace causeway::kernels {

/// The activation a GEMM epilogue or an elementwise kernel applies. gelu_tanh: 0.5 x (1 + tanh(sqrt(2/pi)(x + 0.044715
/// x^3))); gelu_erf: 0.5 x (1 + erf(x / sqrt 2)) (Hendrycks, Gimpel: "Gaussian Error Linear Units", 2016);
/// silu: x / (1 + exp(-x)); relu: max(x, 0), with derivative 0 at 0.
enum class Activation { none, gelu_tanh, gelu_erf, silu, relu };

/// What happens to a finished element acc of C, in this order:
///   acc += bias[n]; pre_activation[m, n] = acc; acc = activation(acc); acc += residual[m, n]; C = acc (or C += acc).
/// Null pointers skip their part.
template <class T>
struct GemmEpilogue {
    const T* bias = nullptr;  ///< (N)
    Activation activation = Activation::none;
    T* pre_activation = nullptr;  ///< (M,N), leading dimension ldc; kept for the activation's backward
    const T* residual = nullptr;  ///< (M,N), leading dimension ldc; may be c itself
    T* a_sums = nullptr;          ///< tn only, (M): sum over k of A[k, m], the bias gradient; += if accumulate
    /// tn only, (tiles): sum of squares of each finished tile of C, for the norm of the gradients
    double* square_sums = nullptr;
};

/// C (M,N) = op(A) op(B), or += when `accumulate`. Rows are contiguous; ld* are elements between rows.
/// The three forms of a training step of a linear layer with weight W (N_out, K_in):
///   nt: Y  (M,N) = A (M,K) B (N,K)^T    Y  = X W^T
///   nn: dX (M,N) = A (M,K) B (K,N)      dX = dY W
///   tn: dW (M,N) = A (K,M)^T B (K,N)    dW += dY^T X
/// C must not overlap A or B. Any size >= 0 is allowed; k == 0 gives zeros (before the epilogue).
template <class T>
struct GemmArgs {
    std::int64_t m = 0, n = 0, k = 0;
    const T* a = nullptr;
    std::int64_t lda = 0;
    const T* b = nullptr;  ///< ignored when packed_b is given
    std::int64_t ldb = 0;
    const T* packed_b = nullptr;  ///< all of B as pack_nt / pack_nn of the same table wrote it (forms nt, nn)
    T* c = nullptr;
    std::int64_t ldc = 0;
    bool accumulate = false;
    GemmEpilogue<T> epilogue = {};
};

/// How many pieces a GEMM is cut into, by its shape alone. Tile t covers row block t % row_tiles of column block
/// t / row_tiles, so that neighbouring tiles share B.
struct GemmTiling {
    std::int64_t row_tiles = 1;
    std::int64_t col_tiles = 1;
    std::int64_t rows = 0;  ///< rows of C a tile
    std::int64_t cols = 0;  ///< columns of C a tile
    std::int64_t tiles() const { return row_tiles * col_tiles; }
};

enum class GemmForm { nt, nn, tn };

/// GEMM of one instruction set. Kernels are called with a tile range and touch only those tiles of C; every tile's
/// result depends on the shape alone, so any split over threads gives the same bits. Scratch is on the stack (at most
/// 256 KiB). No alignment is required, 64-byte aligned packed buffers are fastest.
template <class T>
struct GemmKernels {
    GemmTiling (*tiling)(GemmForm form, std::int64_t m, std::int64_t n, std::int64_t k);

    /// True when a packed copy of B pays for its memory and its packing once a step (nt, nn).
    bool (*wants_packed)(GemmForm form, std::int64_t m, std::int64_t n, std::int64_t k);
    /// Elements of the packed copy of a B with n columns of op(B) and depth k.
    std::int64_t (*packed_elements)(std::int64_t n, std::int64_t k);
    /// Columns of op(B) in a panel; the last one may be padded.
    std::int64_t panel_columns;
    /// How many panels a packed B has; panels [begin, end) are packed by one call.
    std::int64_t (*panels)(std::int64_t n);
    void (*pack_nt)(const T* b, std::int64_t ldb, std::int64_t n, std::int64_t k, T* packed, std::int64_t begin,
                    std::int64_t end);  ///< B (N,K)
    /// pack_nt for copies that leave the caches before they are read: what is written goes past them, which saves
    /// reading it first. `packed` is 64-byte aligned.
    void (*pack_nt_streaming)(const T* b, std::int64_t ldb, std::int64_t n, std::int64_t k, T* packed,
                              std::int64_t begin, std::int64_t end);
    void (*pack_nn)(const T* b, std::int64_t ldb, std::int64_t n, std::int64_t k, T* packed, std::int64_t begin,
                    std::int64_t end);  ///< B (K,N)

    void (*nt)(const GemmArgs<T>& args, std::int64_t tile_begin, std::int64_t tile_end);
    void (*nn)(const GemmArgs<T>& args, std::int64_t tile_begin, std::int64_t tile_end);
    void (*tn)(const GemmArgs<T>& args, std::int64_t tile_begin, std::int64_t tile_end);
};

}  // namespace causeway::kernels
