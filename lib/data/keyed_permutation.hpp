#pragma once

#include <cstdint>

namespace causeway {

/// A random bijection of [0, size), computed element by element instead of stored: a balanced Feistel network over the
/// next even number of bits, with Philox as its round function, walked until it lands inside the range (Black, Rogaway:
/// "Ciphers with arbitrary finite domains", CT-RSA 2002). The same (size, seed, stream) is the same bijection anywhere.
class KeyedPermutation {
  public:
    /// 1 <= size <= 2^62.
    KeyedPermutation(std::int64_t size, std::uint64_t seed, std::uint64_t stream);

    /// Where `index`, in [0, size), goes. Fewer than four network passes on average.
    std::int64_t operator()(std::int64_t index) const;

  private:
    std::uint64_t network(std::uint64_t value) const;

    std::uint64_t size_;
    std::uint64_t seed_;
    std::uint64_t stream_;
    unsigned half_bits_;
};

}  // namespace causeway
