#include <cmath>
#include <numbers>

#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

/// Where GELU has become 0 or x to the last bit, and its derivative 0 or 1.
constexpr double gelu_limit = 20;

template <class T>
T tanh_argument(T x) {
    return static_cast<T>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi) * (x + static_cast<T>(0.044715) * x * x * x);
}

template <class T>
T activate(Activation kind, T x) {
    if (kind == Activation::none) return x;
    if (x <= -gelu_limit) return 0;
    if (kind == Activation::gelu_tanh) return T{0.5} * x * (1 + std::tanh(tanh_argument(x)));
    return T{0.5} * x * (1 + std::erf(x / static_cast<T>(std::numbers::sqrt2)));
}

template <class T>
T gradient(Activation kind, T x) {
    if (kind == Activation::none) return 1;
    if (x <= -gelu_limit) return 0;
    if (x >= gelu_limit) return 1;
    constexpr double sqrt_2_over_pi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    if (kind == Activation::gelu_tanh) {
        const T tanh = std::tanh(tanh_argument(x));
        const T slope = static_cast<T>(sqrt_2_over_pi) * (1 + static_cast<T>(3 * 0.044715) * x * x);
        return T{0.5} * (1 + tanh) + T{0.5} * x * (1 - tanh * tanh) * slope;
    }
    const T density = static_cast<T>(0.5 * sqrt_2_over_pi) * std::exp(T{-0.5} * x * x);
    return T{0.5} * (1 + std::erf(x / static_cast<T>(std::numbers::sqrt2))) + x * density;
}

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
    for (std::int64_t i = begin; i < end; ++i) dx[i] = dy[i] * gradient(kind, x[i]);
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
