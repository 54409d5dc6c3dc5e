#pragma once

#include <cstdint>

namespace causeway {

/// What random numbers are for. One seed serves all of them, because each draws from streams of its own.
enum class RandomDomain : std::uint8_t {
    initialisation,
    training_rows,
    validation_rows,
    shuffle,
    dropout,
    sampling,
    trace_tokens,
    check_tokens,
    check_targets,
    check_directions,
    check_moments
};

/// The RandomStream id of item `index` (a row, an epoch, a parameter) of a domain. index < 2^56.
constexpr std::uint64_t stream_of(RandomDomain domain, std::uint64_t index) {
    return (static_cast<std::uint64_t>(domain) << 56) | (index & ((std::uint64_t{1} << 56) - 1));
}

}  // namespace causeway
