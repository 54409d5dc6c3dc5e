#pragma once

#include <cstdint>

#include "kernels/dropout/dropout.hpp"

namespace causeway::kernels {

/// The problem: queries (B,Tq,H,Dh), keys and values (B,Tk,Hkv,Dh); H is a multiple of Hkv, query head h reads key head
/// h / (H / Hkv). S = scale Q K^T. Query i is at position p = i + (Tk - Tq) (aligned bottom-right); causal hides keys
/// after p. A window hides, as in HuggingFace's models, keys before p - window + 1 when causal, and otherwise those
/// farther than `window` from p on either side.
struct AttentionShape {
    std::int64_t batch = 0;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t queries = 0;  ///< Tq
    std::int64_t keys = 0;     ///< Tk
    std::int64_t head_dim = 0;
    double scale = 1.0;
    bool causal = true;
    std::int64_t window = 0;  ///< 0: none
};

/// An arbitrary mask of (Tq,Tk), or of (B,H,Tq,Tk) where strides of 0 repeat an axis: the byte of query i and key j is
/// at data[b * batch_stride + h * head_stride + i * query_stride + j], 0 hides the key.
struct MaskView {
    const std::uint8_t* data = nullptr;
    std::int64_t batch_stride = 0;
    std::int64_t head_stride = 0;
    std::int64_t query_stride = 0;
};

/// What hides keys, biases scores and drops weights beyond the shape. All parts combine; a null pointer is none. A
/// query from which every key is hidden has weights and output exactly 0, lse -inf and gradient 0.
template <class T>
struct AttentionVariant {
    MaskView mask;
    const std::int32_t* key_mask = nullptr;  ///< (B,Tk): 0 hides a key from all queries of its sequence (padding)
    const T* slopes = nullptr;               ///< (H): scores get -slope |p - key| (ALiBi: Press et al. 2022)
    DropoutMask dropout;                     ///< of the weights: element `key` of (sequence, head, query)
};

/// A (B,T,H,Dh) tensor read or written in place inside a larger buffer, such as Q inside the fused QKV (B,T,3D):
/// element (b,t,h,d) is at data[b * batch_stride + t * token_stride + h * head_stride + d].
template <class T>
struct HeadsView {
    T* data = nullptr;
    std::int64_t batch_stride = 0;
    std::int64_t token_stride = 0;
    std::int64_t head_stride = 0;

    T* at(std::int64_t b, std::int64_t t, std::int64_t h) const {
        return data + b * batch_stride + t * token_stride + h * head_stride;
    }
};

/// O = softmax(S) V with the online softmax (Milakov, Gimelshein 2018; Dao et al. 2022), max-subtracted; no T x T
/// matrix. A query that sees no key gets output 0 and lse = -inf.
template <class T>
struct AttentionForwardArgs {
    AttentionShape shape;
    HeadsView<const T> q, k, v;
    HeadsView<T> out;
    T* lse = nullptr;  ///< (B,H,Tq): log of the sum of exp(S) over the visible keys; may be null when not training
    AttentionVariant<T> variant = {};
};

/// From dO: dV = P^T dO; dP = dO V^T; dS = P o (dP - delta), delta = rowsum(dO o O); dQ = scale dS K; dK = scale dS^T
/// Q, with P recomputed as exp(S - lse) (Dao et al. 2022, section B.4). With dropout factors Z: dV = (P o Z)^T dO, dP =
/// Z o dO V^T, and delta is the same. dq, dk, dv are overwritten, never accumulated.
template <class T>
struct AttentionBackwardArgs {
    AttentionShape shape;
    HeadsView<const T> q, k, v, out, dout;
    const T* lse = nullptr;  ///< (B,H,Tq)
    HeadsView<T> dq, dk, dv;
    T* workspace = nullptr;  ///< backward_workspace(shape) elements
    AttentionVariant<T> variant = {};
};

/// The explicit path: the same with the weights P (B,H,Tq,Tk) stored, exactly 0 where hidden, before dropout.
template <class T>
struct ExplicitAttentionArgs {
    AttentionShape shape;
    HeadsView<const T> q, k, v;
    HeadsView<T> out;
    T* weights = nullptr;  ///< (B,H,Tq,Tk)
    AttentionVariant<T> variant = {};
};

template <class T>
struct ExplicitAttentionBackwardArgs {
    AttentionShape shape;
    HeadsView<const T> q, k, v, dout;
    const T* weights = nullptr;  ///< (B,H,Tq,Tk)
    HeadsView<T> dq, dk, dv;
    T* dscores = nullptr;  ///< (B,H,Tq,Tk) scratch
    AttentionVariant<T> variant = {};
};

/// Attention of one instruction set. Tile counts depend on the shape alone; a tile's result depends on nothing but the
/// arguments. Scratch is on the stack (at most 512 KiB), head_dim is at most 256 in the tiled path.
template <class T>
struct AttentionKernels {
    /// B * H * query blocks. A head's blocks lie together, long and short ones in turn, so that equal ranges of tiles
    /// cost about the same.
    std::int64_t (*forward_tiles)(const AttentionShape& shape);
    void (*forward)(const AttentionForwardArgs<T>& args, std::int64_t tile_begin, std::int64_t tile_end);

    /// Backward is three stages with a join between them: delta, then dK, dV and dQ (or its partial sums), then the sum
    /// of the partial dQ in fixed order (0 tiles when the second stage wrote dQ itself).
    /// Elements: delta (B,H,Tq) and G - 1 partial dQ (B,H,Tq,Dh), where the key blocks of each (b, kv head) are cut
    /// into G groups: 1 when B * Hkv >= 12, else at most 16. O(B H Tq (1 + (G - 1) Dh)).
    std::int64_t (*backward_workspace)(const AttentionShape& shape);
    std::int64_t (*backward_delta_tiles)(const AttentionShape& shape);
    void (*backward_delta)(const AttentionBackwardArgs<T>& args, std::int64_t tile_begin, std::int64_t tile_end);
    std::int64_t (*backward_tiles)(const AttentionShape& shape);
    void (*backward)(const AttentionBackwardArgs<T>& args, std::int64_t tile_begin, std::int64_t tile_end);
    std::int64_t (*backward_reduce_tiles)(const AttentionShape& shape);
    void (*backward_reduce)(const AttentionBackwardArgs<T>& args, std::int64_t tile_begin, std::int64_t tile_end);

    std::int64_t (*explicit_tiles)(const AttentionShape& shape);  ///< B * H
    void (*explicit_forward)(const ExplicitAttentionArgs<T>& args, std::int64_t tile_begin, std::int64_t tile_end);
    std::int64_t (*explicit_backward_tiles)(const AttentionShape& shape);  ///< B * Hkv: a tile sums its query heads
    void (*explicit_backward)(const ExplicitAttentionBackwardArgs<T>& args, std::int64_t tile_begin,
                              std::int64_t tile_end);
};

}  // namespace causeway::kernels
