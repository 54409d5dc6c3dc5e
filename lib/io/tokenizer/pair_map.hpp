#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace causeway {

/// What a pair of tokens merges into, by the pair: an open-addressing hash table, at most half full.
class PairMap {
  public:
    /// A merge: the rank in the upper half, the resulting token in the lower, so that the lower merge goes first.
    static constexpr std::uint64_t none = ~std::uint64_t{0};

    explicit PairMap(std::size_t pairs) {
        std::size_t size = 16;
        while (size < 2 * pairs) size *= 2;
        slots_.resize(size);
        mask_ = size - 1;
    }

    /// Replaces what is there.
    void set(std::int32_t left, std::int32_t right, std::uint32_t rank, std::int32_t result) {
        Slot& slot = slots_[place_of(key_of(left, right))];
        slot = {key_of(left, right), (std::uint64_t{rank} << 32) | static_cast<std::uint32_t>(result)};
    }

    std::uint64_t find(std::int32_t left, std::int32_t right) const {
        return slots_[place_of(key_of(left, right))].merge;
    }

  private:
    struct Slot {
        std::uint64_t key = none;
        std::uint64_t merge = none;
    };

    static std::uint64_t key_of(std::int32_t left, std::int32_t right) {
        return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32) | static_cast<std::uint32_t>(right);
    }

    /// Where the key is, or the free slot where it belongs.
    std::size_t place_of(std::uint64_t key) const {
        const std::uint64_t mixed = key * 0x9E3779B97F4A7C15u;
        std::size_t at = (mixed >> 32) & mask_;
        while (slots_[at].key != key && slots_[at].key != none) at = (at + 1) & mask_;
        return at;
    }

    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
};

}  // namespace causeway
