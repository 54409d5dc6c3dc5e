#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

template <class T>
void forward(const T* x, T* y, std::int64_t cols, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const T* in = x + r * cols;
        T* out = y + r * cols;
        T max = -std::numeric_limits<T>::infinity();
        for (std::int64_t c = 0; c < cols; ++c) max = std::max(max, in[c]);
        const T base = std::isinf(max) && max < 0 ? T{0} : max;  // a row of all -inf has the sum 0
        T sum = 0;
        for (std::int64_t c = 0; c < cols; ++c) sum += out[c] = std::exp(in[c] - base);
        const T divisor = sum == 0 ? T{1} : sum;
        for (std::int64_t c = 0; c < cols; ++c) out[c] /= divisor;
    }
}

template <class T>
void backward(const T* y, const T* dy, T* dx, std::int64_t cols, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const T* weights = y + r * cols;
        const T* dweights = dy + r * cols;
        T* out = dx + r * cols;
        T sum = 0;
        for (std::int64_t c = 0; c < cols; ++c) sum += weights[c] * dweights[c];
        for (std::int64_t c = 0; c < cols; ++c) out[c] = weights[c] * (dweights[c] - sum);
    }
}

}  // namespace

template <class T>
void add_softmax(KernelTable<T>& table) {
    table.softmax.forward = forward<T>;
    table.softmax.backward = backward<T>;
}
template void add_softmax(KernelTable<float>& table);
template void add_softmax(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
