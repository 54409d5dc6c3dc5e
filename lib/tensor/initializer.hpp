#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace causeway {

/// How a parameter or constant is filled when a model is made.
struct Initializer {
    enum class Kind { zeros, ones, normal, uniform, sinusoidal, rope };
    Kind kind = Kind::zeros;
    double scale = 0;  ///< standard deviation of normal, half-width of uniform, factor of rope's cosines and sines
    std::vector<double> frequencies = {};  ///< rope: angle a position, of each pair of a head
};

constexpr std::string_view to_string(Initializer::Kind kind) {
    constexpr std::array<std::string_view, 6> names{"zeros", "ones", "normal", "uniform", "sinusoidal", "rope"};
    return names[static_cast<std::size_t>(kind)];
}

}  // namespace causeway
