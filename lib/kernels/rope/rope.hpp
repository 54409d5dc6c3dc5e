#pragma once

#include <cstdint>

namespace causeway::kernels {

/// Rotary position embedding (Su et al. 2021: "RoFormer", equation 15) of the first `heads` heads of each row: pair i
/// of a head turns by the angle whose cosine and sine row p = past[b] + t of the table has,
///   (a, b) -> (a cos - b sin, b cos + a sin).
/// Half-split: pair i is elements i and i + head_dim/2 (HuggingFace's Llama, Qwen3); interleaved: 2i and 2i + 1 (the
/// paper's). `inverse` turns back, which is also the gradient. Columns beyond the heads are copied.
template <class T>
struct RopeArgs {
    const T* x = nullptr;                ///< (B * seq_len, width)
    T* y = nullptr;                      ///< (B * seq_len, width); may be x
    const T* table = nullptr;            ///< (positions, head_dim): head_dim/2 cosines, then as many sines
    const std::int32_t* past = nullptr;  ///< (B): position of each sequence's first row; null: 0
    std::int64_t seq_len = 0;
    std::int64_t width = 0;
    std::int64_t heads = 0;
    std::int64_t head_dim = 0;  ///< even
    bool interleaved = false;
    bool inverse = false;
};

template <class T>
struct RopeKernels {
    void (*rotate)(const RopeArgs<T>& args, std::int64_t row_begin, std::int64_t row_end);
};

}  // namespace causeway::kernels
