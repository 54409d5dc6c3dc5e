#include "base/philox.hpp"

#include <cmath>
#include <numbers>

namespace causeway {

std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
    constexpr std::uint64_t multiplier0 = 0xD2511F53, multiplier1 = 0xCD9E8D57;
    constexpr std::uint32_t weyl0 = 0x9E3779B9, weyl1 = 0xBB67AE85;
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t product0 = multiplier0 * counter[0];
        const std::uint64_t product1 = multiplier1 * counter[2];
        counter = {
            static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
            static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
        key[0] += weyl0;
        key[1] += weyl1;
    }
    return counter;
}

std::uint32_t RandomStream::next_u32() {
    const std::uint64_t index = position_ / 4;
    if (position_ % 4 == 0) {
        block_ = philox4x32({static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
                             static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
                            {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)});
    }
    return block_[position_++ % 4];
}

std::uint64_t RandomStream::next_u64() {
    const std::uint64_t low = next_u32();
    return low | (static_cast<std::uint64_t>(next_u32()) << 32);
}

double RandomStream::next_uniform() { return static_cast<double>(next_u64() >> 11) * 0x1.0p-53; }

std::uint64_t RandomStream::next_below(std::uint64_t bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    for (;;) {
        __extension__ using u128 = unsigned __int128;
        const u128 product = static_cast<u128>(next_u64()) * bound;
        if (static_cast<std::uint64_t>(product) >= threshold) return static_cast<std::uint64_t>(product >> 64);
    }
}

double RandomStream::next_normal() {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - next_uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * next_uniform());
}

void RandomStream::seek(std::uint64_t position) {
    position_ = position - position % 4;
    while (position_ < position) next_u32();
}

}  // namespace causeway
