#include <cmath>

#include "kernels/elementwise/activation_ref.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

template <class T>
void add(const T* a, const T* b, T* y, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y[i] = a[i] + b[i];
}

template <class T>
void activation_forward(Activation kind, const T* x, T* y, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y[i] = activate(kind, x[i]);
}

template <class T>
void activation_backward(Activation kind, const T* x, const T* dy, T* dx, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) dx[i] = dy[i] * activation_slope(kind, x[i]);
}

template <class T>
void fill(T* y, T value, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y[i] = value;
}

template <class T>
void exp(const T* x, T* y, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y[i] = std::exp(x[i]);
}

template <class T>
void tanh(const T* x, T* y, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y[i] = std::tanh(x[i]);
}

template <class T>
void erf(const T* x, T* y, std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) y[i] = std::erf(x[i]);
}

template <class T>
void column_sums(const T* x, std::int64_t ld, std::int64_t rows, T* y, bool accumulate, std::int64_t col_begin,
                 std::int64_t col_end) {
    for (std::int64_t c = col_begin; c < col_end; ++c) {
        T sum = 0;
        for (std::int64_t r = 0; r < rows; ++r) sum += x[r * ld + c];
        y[c] = accumulate ? y[c] + sum : sum;
    }
}

}  // namespace

template <class T>
void add_elementwise(KernelTable<T>& table) {
    table.elementwise.add = add<T>;
    table.elementwise.activation_forward = activation_forward<T>;
    table.elementwise.activation_backward = activation_backward<T>;
    table.elementwise.fill = fill<T>;
    table.elementwise.exp = exp<T>;
    table.elementwise.tanh = tanh<T>;
    table.elementwise.erf = erf<T>;
    table.elementwise.column_sums = column_sums<T>;
}
template void add_elementwise(KernelTable<float>& table);
template void add_elementwise(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
