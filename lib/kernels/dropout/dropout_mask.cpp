#include <algorithm>
#include <cmath>

#include "base/philox.hpp"
#include "base/random_domain.hpp"
#include "kernels/dropout/dropout.hpp"

namespace causeway::kernels {

DropoutMask dropout_mask(double rate, std::uint64_t seed, std::int64_t step, std::int64_t site,
                         std::int64_t first_row) {
    DropoutMask mask;
    const double words = std::round(rate * 0x1.0p32);
    mask.threshold = static_cast<std::uint32_t>(std::min(words, 0x1.0p32 - 1));
    mask.scale = rate >= 1 ? 0.0 : 1 / (1 - rate);
    mask.first_row = static_cast<std::uint32_t>(first_row);
    // As RandomStream numbers its words, so that no other use of the seed meets the same counter.
    const std::uint64_t stream = stream_of(RandomDomain::dropout, static_cast<std::uint64_t>(site));
    const auto words_of_site = philox4x32(
        {static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(static_cast<std::uint64_t>(step) >> 32),
         static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)},
        {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    mask.key[0] = words_of_site[0];
    mask.key[1] = words_of_site[1];
    return mask;
}

}  // namespace causeway::kernels
