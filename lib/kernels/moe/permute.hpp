#pragma once

#include <cstdint>

namespace causeway::kernels {

/// Where each of the k choices of a token stands among the rows that are sorted by expert. A pair is token * k +
/// choice, a slot is a sorted row.
struct Permutation {
    const std::int32_t* order = nullptr;  ///< (slots): the pair of each slot
    const std::int32_t* slots = nullptr;  ///< (pairs): the slot of each pair
    std::int64_t choices = 0;             ///< k
    std::int64_t cols = 0;                ///< of a row
};

/// Rows to their experts and back. Nothing overlaps, but where stated.
template <class T>
struct PermuteKernels {
    /// rows[s] = x[order[s] / k] for slots [begin, end). x (tokens, cols), rows (tokens k, cols).
    void (*gather)(const Permutation& permutation, const T* x, T* rows, std::int64_t begin, std::int64_t end);
    /// y[t] = sum over choices j, in order, of weights[t, j] rows[slots[t, j]], for tokens [begin, end). Without
    /// weights (null) the plain sum, which is gather's gradient. weights (tokens, k), y (tokens, cols).
    void (*combine)(const Permutation& permutation, const T* rows, const T* weights, T* y, std::int64_t begin,
                    std::int64_t end);
    /// Its gradients, for slots [begin, end) with pair p = order[s] of token t: drows[s] = weights[p] dy[t],
    /// dweights[p] = sum over columns of dy[t] o rows[s]. drows may be rows.
    void (*combine_backward)(const Permutation& permutation, const T* rows, const T* weights, const T* dy, T* drows,
                             T* dweights, std::int64_t begin, std::int64_t end);
};

}  // namespace causeway::kernels
