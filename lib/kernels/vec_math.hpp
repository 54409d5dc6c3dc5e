#pragma once

// Vector exp, tanh and erf, and the GELU and SiLU built from them. Included by x.simd.cpp files only, and in the ISA's
// own namespace like everything there. The tail of a row goes through the same functions (load_partial, store_partial
// in arch.hpp), so lanes and tails agree bit for bit.
//
//   vexp(x)   within 1.2 ulp where the result is a normal number; vexp(-inf) = 0, vexp(x > 88.73) = inf
//   vexp2(x)  the same for 2^x, within 1.5 ulp and cheaper: fold log2(e) into a factor that is there anyway
//   vtanh(x)  within 2 ulp; exactly +-1 from |x| >= 10 on
//   verf(x)   within 2 ulp; exactly +-1 from |x| >= 4 on
//   gelu_tanh(x), gelu_erf(x), and their derivatives gelu_tanh_gradient(x), gelu_erf_gradient(x)
//   silu(x), and silu_with_gradient(x), which gives both for one exponential
//
// NaN stays NaN everywhere. Polynomials are minimax fits (Remez) made for the ranges stated beside them.

#include "kernels/arch.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

namespace detail {

/// x = n ln2 + r with |r| <= ln2 / 2. Adding `shift` = 1.5 * 2^23 + bias rounds x / ln2 to an integer and leaves
/// n + bias in the low bits.
struct Reduced {
    Vec r, n;
    VecInt shifted_bits;
};

inline Reduced reduce(Vec x, float bias) {
    const Vec shift(12582912.0f + bias);
    const Vec shifted = xsimd::fma(x, Vec(1.44269504f), shift);
    const Vec n = shifted - shift;
    // ln2 in two parts, the first with so few bits that n times it is exact (Cody and Waite).
    Vec r = xsimd::fma(n, Vec(-0.693359375f), x);
    r = xsimd::fma(n, Vec(2.12194440e-4f), r);
    return {r, n, bits_of(shifted)};
}

/// p * 2^n, right up to overflow and down to denormals.
inline Vec scale(Vec p, [[maybe_unused]] const Reduced& x) {
#if defined(__AVX512F__)
    return _mm512_scalef_ps(p, x.n);
#else
    // The low bits hold n + 254, the biased exponents of two factors together. What lies above them is shifted out.
    const VecInt half = x.shifted_bits >> 1;
    return p * float_of(half << 23) * float_of((x.shifted_bits - half) << 23);
#endif
}

template <class... Rest>
inline Vec horner(Vec x, float c0, Rest... rest) {
    if constexpr (sizeof...(rest) == 0) {
        return Vec(c0);
    } else {
        return xsimd::fma(horner(x, rest...), x, Vec(c0));
    }
}

/// The same polynomial as two interleaved ones in x^2: half the latency, one product more. Long chains of dependent
/// steps, not the number of operations, bound the functions that call this.
template <class... Rest>
inline Vec paired(Vec x, Vec square, float c0, float c1, Rest... rest) {
    const Vec pair = xsimd::fma(Vec(c1), x, Vec(c0));
    if constexpr (sizeof...(rest) == 0) {
        return pair;
    } else if constexpr (sizeof...(rest) == 1) {
        return xsimd::fma(Vec(rest...), square, pair);
    } else {
        return xsimd::fma(paired(x, square, rest...), square, pair);
    }
}

/// The same for powers of two, where the remainder |r| <= 0.5 is exact.
inline Reduced reduce2(Vec x, float bias) {
    const Vec shift(12582912.0f + bias);
    const Vec shifted = x + shift;
    const Vec n = shifted - shift;
    return {x - n, n, bits_of(shifted)};
}

/// exp(r) for |r| <= 0.347, relative error 3e-9.
inline Vec exp_reduced(Vec r) {
    return horner(r, 1.0f, 1.0f, 0.499999934f, 0.1666651997f, 0.04166839579f, 0.008368796681f, 0.001381443336f);
}

/// 2^x for -254 <= x < 256; the polynomial is 2^r for |r| <= 0.501, relative error 2e-9.
inline Vec exp2_inside(Vec x) {
    const Reduced reduced = reduce2(x, 254.0f);
    return scale(paired(reduced.r, reduced.r * reduced.r, 1.0f, 0.6931472031f, 0.2402264788f, 0.05550331854f,
                        0.009618439847f, 0.001339913255f, 0.0001535315406f),
                 reduced);
}

}  // namespace detail

inline Vec vexp2(Vec x) { return detail::exp2_inside(xsimd::min(Vec(129.0f), xsimd::max(Vec(-151.0f), x))); }

inline Vec vexp(Vec x) {
    // Beyond the limits the result is 0 or inf anyway. min and max return their second operand when one is NaN.
    x = xsimd::min(Vec(89.0f), xsimd::max(Vec(-104.0f), x));
    const detail::Reduced reduced = detail::reduce(x, 254.0f);
    return detail::scale(detail::exp_reduced(reduced.r), reduced);
}

/// A polynomial near 0, 1 - 2 / (exp(2|x|) + 1) beyond.
inline Vec vtanh(Vec x) {
    const Vec magnitude = xsimd::abs(x);
    // (tanh(x) / x - 1) / x^2 for |x| <= 0.6; added to x last, so that it costs half an ulp only.
    const Vec square = x * x;
    const Vec p =
        detail::horner(square, -0.33333298f, 0.1333192413f, -0.05378383033f, 0.02079597185f, -0.005895158302f);
    const Vec near = xsimd::fma(p * square, x, x);
    const detail::Reduced reduced = detail::reduce(xsimd::min(Vec(20.0f), magnitude + magnitude), 127.0f);
    const Vec power = float_of(reduced.shifted_bits << 23);
    const Vec far = Vec(1.0f) - Vec(2.0f) / xsimd::fma(detail::exp_reduced(reduced.r), power, Vec(1.0f));
    return xsimd::copysign(xsimd::select(magnitude < Vec(0.6f), near, far), x);
}

namespace detail {

/// erf(z) for |z| <= 0.93, relative error 2e-8. The factor is erf(z) / z - 1, so that the last sum costs half an ulp.
inline Vec erf_near(Vec z) {
    const Vec p =
        horner(z * z, 0.128379148f, -0.376124811f, 0.1128168254f, -0.0267617199f, 0.004985940638f, -0.0005953741865f);
    return xsimd::fma(p, z, z);
}

/// 1 - erf(z) for z >= 0.9 as exp of a polynomial fitted to log erfc on [0.9, 4.2]; goes to 0 beyond.
inline Vec erfc_far(Vec z) {
    z = xsimd::min(Vec(12.0f), z);
    return vexp(horner(z, 0.0001692037956f, -1.1294884f, -0.6334008657f, -0.1082203665f, 0.02508060436f,
                       -0.00415624999f, 0.0004313924809f, -2.08285185e-5f));
}

/// Where the two forms of erf meet.
inline constexpr float erf_split = 0.92f;

}  // namespace detail

inline Vec verf(Vec x) {
    const Vec z = xsimd::abs(x);
    const Vec far = xsimd::copysign(Vec(1.0f) - detail::erfc_far(z), x);
    return xsimd::select(z < Vec(detail::erf_split), detail::erf_near(x), far);
}

namespace detail {

/// u = 2 sqrt(2 / pi) (x + 0.044715 x^3), 0.5 (1 + tanh(u / 2)) = 1 / (1 + exp(-u)), with log2(e) in the factors:
/// 2^(x (gelu_linear + gelu_cubic x^2)) = exp(-u).
inline constexpr float gelu_linear = -2.302208198f;
inline constexpr float gelu_cubic = -0.1029432397f;
inline constexpr float ln2 = 0.6931471806f;

/// The small tail of the standard normal's distribution function, 0.5 erfc(z / sqrt 2), for 0 <= z <= 11: 2 to a
/// polynomial fitted to its logarithm on [0, 5.5] (error 2e-8 of 1 at most), which falls to 0 faster beyond.
inline Vec normal_tail(Vec z) {
    return exp2_inside(paired(z, z * z, -0.9999999444f, -1.151107504f, -0.4591896924f, -0.05255343606f, 0.007149050284f,
                              -0.0002048629343f, -0.0001571007101f, 3.306748197e-5f, -2.293358062e-6f));
}

}  // namespace detail

/// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
inline Vec gelu_tanh(Vec x) {
    // At -11 exp(-u) is already inf, the result 0; at -inf it would be NaN.
    x = xsimd::max(Vec(-11.0f), x);
    const Vec minus_u = x * xsimd::fma(Vec(detail::gelu_cubic), x * x, Vec(detail::gelu_linear));
    return x / (Vec(1.0f) + detail::exp2_inside(xsimd::max(Vec(-151.0f), minus_u)));
}

/// s + x s (1 - s) u' with s = 1 / (1 + exp(-u)), through e = exp(-|u|), which cannot overflow and gives s and 1 - s
/// without cancellation; 0 or 1 exactly for |x| >= 20.
inline Vec gelu_tanh_gradient(Vec x) {
    x = xsimd::min(Vec(20.0f), xsimd::max(Vec(-20.0f), x));
    const Vec square = x * x;
    const Vec minus_u = xsimd::abs(x) * xsimd::fma(Vec(detail::gelu_cubic), square, Vec(detail::gelu_linear));
    const Vec e = detail::exp2_inside(xsimd::max(Vec(-151.0f), minus_u));
    const Vec s = Vec(1.0f) / (Vec(1.0f) + e);
    const Vec complement = e * s;
    const Vec slope =
        xsimd::fma(Vec(-3 * detail::ln2 * detail::gelu_cubic), square, Vec(-detail::ln2 * detail::gelu_linear));
    return xsimd::fma(x * slope * s, complement, xsimd::select(x < Vec(0.0f), complement, s));
}

/// 0.5 x (1 + erf(x / sqrt 2)) = max(x, 0) - |x| tail(|x|).
inline Vec gelu_erf(Vec x) {
    const Vec z = xsimd::min(Vec(11.0f), xsimd::abs(x));
    return xsimd::max(Vec(0.0f), x) - z * detail::normal_tail(z);
}

/// Phi(x) + x phi(x) of the standard normal; 0 or 1 exactly for |x| >= 20.
inline Vec gelu_erf_gradient(Vec x) {
    x = xsimd::min(Vec(16.0f), xsimd::max(Vec(-16.0f), x));
    // exp(-x^2 / 2) / sqrt(2 pi)
    const Vec density = Vec(0.3989422804f) * detail::exp2_inside(Vec(-0.7213475204f) * (x * x));
    const Vec tail = detail::normal_tail(xsimd::min(Vec(11.0f), xsimd::abs(x)));
    return xsimd::fma(x, density, xsimd::select(x < Vec(0.0f), tail, Vec(1.0f) - tail));
}

/// x / (1 + exp(-x)).
inline Vec silu(Vec x) {
    // At -103 exp(-x) is already inf, the result 0; at -inf it would be NaN.
    x = xsimd::max(Vec(-103.0f), x);
    return x / (Vec(1.0f) + detail::exp2_inside(xsimd::max(Vec(-151.0f), Vec(-1.442695041f) * x)));
}

/// A function and its derivative at one place.
struct ValueAndSlope {
    Vec value, slope;
};

/// s x and s + x s (1 - s), s = 1 / (1 + exp(-x)), through exp(-|x|), which gives s and 1 - s without cancellation.
inline ValueAndSlope silu_with_gradient(Vec x) {
    const Vec above = xsimd::max(Vec(-88.0f), x);
    const Vec inside = xsimd::min(Vec(88.0f), above);
    const Vec e = detail::exp2_inside(Vec(-1.442695041f) * xsimd::abs(inside));
    const Vec larger = Vec(1.0f) / (Vec(1.0f) + e);
    const Vec smaller = e * larger;
    const Vec s = xsimd::select(x < Vec(0.0f), smaller, larger);
    return {above * s, xsimd::fma(inside * larger, smaller, s)};
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
