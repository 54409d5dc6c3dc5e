#include <algorithm>

#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

template <class T>
void gather(const Permutation& permutation, const T* x, T* rows, std::int64_t begin, std::int64_t end) {
    for (std::int64_t s = begin; s < end; ++s) {
        const std::int64_t token = permutation.order[s] / permutation.choices;
        std::copy_n(x + token * permutation.cols, permutation.cols, rows + s * permutation.cols);
    }
}

template <class T>
void combine(const Permutation& permutation, const T* rows, const T* weights, T* y, std::int64_t begin,
             std::int64_t end) {
    const std::int64_t choices = permutation.choices, cols = permutation.cols;
    for (std::int64_t t = begin; t < end; ++t) {
        for (std::int64_t c = 0; c < cols; ++c) {
            T sum = 0;
            for (std::int64_t pair = t * choices; pair < (t + 1) * choices; ++pair) {
                sum += (weights ? weights[pair] : T(1)) * rows[permutation.slots[pair] * cols + c];
            }
            y[t * cols + c] = sum;
        }
    }
}

template <class T>
void combine_backward(const Permutation& permutation, const T* rows, const T* weights, const T* dy, T* drows,
                      T* dweights, std::int64_t begin, std::int64_t end) {
    const std::int64_t cols = permutation.cols;
    for (std::int64_t s = begin; s < end; ++s) {
        const std::int64_t pair = permutation.order[s], token = pair / permutation.choices;
        T dot = 0;
        for (std::int64_t c = 0; c < cols; ++c) {
            dot += dy[token * cols + c] * rows[s * cols + c];
            drows[s * cols + c] = weights[pair] * dy[token * cols + c];
        }
        dweights[pair] = dot;
    }
}

}  // namespace

template <class T>
void add_permute(KernelTable<T>& table) {
    table.permute.gather = gather<T>;
    table.permute.combine = combine<T>;
    table.permute.combine_backward = combine_backward<T>;
}
template void add_permute(KernelTable<float>& table);
template void add_permute(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
