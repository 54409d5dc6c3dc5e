#pragma once

#include <array>
#include <cstdint>

namespace causeway {

/// Philox4x32-10, a counter-based generator (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
/// SC 2011). The same key and counter give the same four words anywhere, in any order, on any thread.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// A sequence of random numbers over philox4x32: (seed, stream) is the key and upper counter, the position counts up.
/// Two streams of a seed never overlap.
class RandomStream {
  public:
    RandomStream(std::uint64_t seed, std::uint64_t stream) : seed_(seed), stream_(stream) {}

    std::uint32_t next_u32();
    std::uint64_t next_u64();
    /// Uniform in [0, 1), 53 bits.
    double next_uniform();
    /// Uniform integer in [0, bound), without modulo bias (Lemire's rejection). bound > 0.
    std::uint64_t next_below(std::uint64_t bound);
    /// Normal (0, 1) by Box-Muller in double.
    double next_normal();

    /// Words drawn so far, and how to go on from there.
    std::uint64_t position() const { return position_; }
    void seek(std::uint64_t position);

  private:
    std::uint64_t seed_;
    std::uint64_t stream_;
    std::uint64_t position_ = 0;  ///< in 32-bit words
    std::array<std::uint32_t, 4> block_{};
};

}  // namespace causeway
