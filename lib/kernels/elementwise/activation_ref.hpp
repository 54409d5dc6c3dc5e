#pragma once

// The activations in plain formulas, for the twins of the kernels that apply them.

#include <cmath>
#include <numbers>

#include "kernels/gemm/gemm.hpp"  // Activation

namespace causeway::kernels::reference {

/// Where GELU has become 0 or x to the last bit, and its derivative 0 or 1.
inline constexpr double gelu_limit = 20;

template <class T>
T gelu_tanh_argument(T x) {
    return static_cast<T>(std::numbers::sqrt2 * std::numbers::inv_sqrtpi) * (x + static_cast<T>(0.044715) * x * x * x);
}

/// 1 / (1 + exp(-x)).
template <class T>
T sigmoid(T x) {
    const T e = std::exp(-std::abs(x));
    return (x < 0 ? e : T{1}) / (1 + e);
}

template <class T>
T activate(Activation kind, T x) {
    if (kind == Activation::none) return x;
    if (kind == Activation::relu) return x < 0 ? T{0} : x;
    if (kind == Activation::silu) {
        const T s = sigmoid(x);
        return s == 0 ? T{0} : x * s;  // not -inf times 0
    }
    if (x <= -gelu_limit) return 0;
    if (kind == Activation::gelu_tanh) return T{0.5} * x * (1 + std::tanh(gelu_tanh_argument(x)));
    return T{0.5} * x * std::erfc(-x / static_cast<T>(std::numbers::sqrt2));
}

template <class T>
T activation_slope(Activation kind, T x) {
    if (kind == Activation::none) return 1;
    if (kind == Activation::relu) return x > 0 ? T{1} : T{0};
    if (kind == Activation::silu) {
        const T s = sigmoid(x), other = sigmoid(-x);
        return s == 0 || other == 0 ? s : s + x * s * other;
    }
    if (x <= -gelu_limit) return 0;
    if (x >= gelu_limit) return 1;
    constexpr double sqrt_2_over_pi = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
    if (kind == Activation::gelu_tanh) {
        const T tanh = std::tanh(gelu_tanh_argument(x));
        const T slope = static_cast<T>(sqrt_2_over_pi) * (1 + static_cast<T>(3 * 0.044715) * x * x);
        return T{0.5} * (1 + tanh) + T{0.5} * x * (1 - tanh * tanh) * slope;
    }
    const T density = static_cast<T>(0.5 * sqrt_2_over_pi) * std::exp(T{-0.5} * x * x);
    return T{0.5} * (1 + std::erf(x / static_cast<T>(std::numbers::sqrt2))) + x * density;
}

}  // namespace causeway::kernels::reference
