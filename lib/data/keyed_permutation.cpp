#include "data/keyed_permutation.hpp"

#include <algorithm>
#include <bit>

#include "base/philox.hpp"

namespace causeway {
namespace {

/// Four suffice for large ranges (Luby, Rackoff 1988); the small ones of short texts need more to look random.
constexpr std::uint32_t rounds = 8;

}  // namespace

KeyedPermutation::KeyedPermutation(std::int64_t size, std::uint64_t seed, std::uint64_t stream)
    : size_(static_cast<std::uint64_t>(size)), seed_(seed), stream_(stream) {
    const auto bits = static_cast<unsigned>(std::bit_width(size_ - 1));
    half_bits_ = std::max(1u, (bits + 1) / 2);
}

std::int64_t KeyedPermutation::operator()(std::int64_t index) const {
    auto value = static_cast<std::uint64_t>(index);
    do {
        value = network(value);
    } while (value >= size_);
    return static_cast<std::int64_t>(value);
}

std::uint64_t KeyedPermutation::network(std::uint64_t value) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = value >> half_bits_, right = value & mask;
    for (std::uint32_t round = 0; round < rounds; ++round) {
        const auto word = philox4x32({static_cast<std::uint32_t>(right), round, static_cast<std::uint32_t>(stream_),
                                      static_cast<std::uint32_t>(stream_ >> 32)},
                                     {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)})[0];
        const std::uint64_t next = left ^ (word & mask);
        left = right;
        right = next;
    }
    return (left << half_bits_) | right;
}

}  // namespace causeway
