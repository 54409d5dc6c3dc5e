#pragma once

#include <array>
#include <string_view>

namespace causeway {

/// How a parameter or constant is filled when a model is made.
struct Initializer {
    enum class Kind { zeros, ones, normal, uniform, sinusoidal };
    Kind kind = Kind::zeros;
    double scale = 0;  ///< standard deviation of normal, half-width of uniform
};

constexpr std::string_view to_string(Initializer::Kind kind) {
    constexpr std::array<std::string_view, 5> names{"zeros", "ones", "normal", "uniform", "sinusoidal"};
    return names[static_cast<std::size_t>(kind)];
}

}  // namespace causeway
