#pragma once

#include <concepts>
#include <type_traits>

namespace causeway {

/// a / b rounded up. a >= 0, b > 0.
template <std::integral T>
constexpr T ceil_div(T a, std::type_identity_t<T> b) {
    return (a + b - 1) / b;
}

/// The least multiple of b that is at least a. a >= 0, b > 0.
template <std::integral T>
constexpr T round_up(T a, std::type_identity_t<T> b) {
    return ceil_div(a, b) * b;
}

}  // namespace causeway
