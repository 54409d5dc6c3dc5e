#pragma once

#include <cstdint>

namespace causeway::kernels {

/// Label of a row that carries no loss (PyTorch's ignore_index).
inline constexpr std::int32_t ignore_index = -100;

/// loss[r] = lse(logits[r]) - logits[r, target[r]]; 0 for ignored rows. Sums are in double. Rows [row_begin, row_end).
template <class T>
struct CrossEntropyArgs {
    T* logits = nullptr;  ///< (rows, ld), the first `vocab` columns valid
    std::int64_t ld = 0;
    std::int64_t vocab = 0;
    const std::int32_t* targets = nullptr;  ///< (rows), each in [0, vocab) or ignore_index
    double* loss = nullptr;                 ///< (rows)
};

template <class T>
struct CrossEntropyKernels {
    void (*forward)(const CrossEntropyArgs<T>& args, std::int64_t row_begin, std::int64_t row_end);
    /// The same, and logits become dlogits = softmax(logits) - onehot(target), of the *sum* of the losses; rows that
    /// are ignored become 0.
    void (*forward_backward)(const CrossEntropyArgs<T>& args, std::int64_t row_begin, std::int64_t row_end);
};

}  // namespace causeway::kernels
