#pragma once

// The activations as templates on their kind, for x.simd.cpp files: epilogues of products, maps, gated MLPs.

#include "kernels/gemm/gemm.hpp"  // Activation
#include "kernels/vec_math.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

template <Activation kind>
inline Vec activate(Vec x) {
    if constexpr (kind == Activation::gelu_tanh) return gelu_tanh(x);
    if constexpr (kind == Activation::gelu_erf) return gelu_erf(x);
    if constexpr (kind == Activation::silu) return silu(x);
    if constexpr (kind == Activation::relu) return xsimd::max(Vec(0.0f), x);
    return x;
}

template <Activation kind>
inline Vec activation_slope(Vec x) {
    if constexpr (kind == Activation::gelu_tanh) return gelu_tanh_gradient(x);
    if constexpr (kind == Activation::gelu_erf) return gelu_erf_gradient(x);
    if constexpr (kind == Activation::silu) return silu_with_gradient(x).slope;
    if constexpr (kind == Activation::relu) return xsimd::select(x > Vec(0.0f), Vec(1.0f), Vec(0.0f));
    return Vec(1.0f);
}

template <Activation kind>
inline ValueAndSlope activate_with_slope(Vec x) {
    if constexpr (kind == Activation::silu) return silu_with_gradient(x);
    return {activate<kind>(x), activation_slope<kind>(x)};
}

/// Calls f with the kind as a value known at compile time: f(Kind<kind>{}).
template <Activation kind>
struct Kind {
    static constexpr Activation value = kind;
};

template <class F>
inline void with_activation(Activation kind, F f) {
    switch (kind) {
        case Activation::none:
            return f(Kind<Activation::none>{});
        case Activation::gelu_tanh:
            return f(Kind<Activation::gelu_tanh>{});
        case Activation::gelu_erf:
            return f(Kind<Activation::gelu_erf>{});
        case Activation::silu:
            return f(Kind<Activation::silu>{});
        case Activation::relu:
            return f(Kind<Activation::relu>{});
    }
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
