#include "base/alibi.hpp"

#include <bit>
#include <cmath>

namespace causeway {

std::vector<double> alibi_slopes(std::int64_t heads) {
    const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
    std::vector<double> slopes;
    for (std::int64_t h = 0; h < heads; ++h) {
        const std::int64_t numerator = h < power ? 8 * (h + 1) : 4 * (2 * (h - power) + 1);
        slopes.push_back(std::exp2(-static_cast<double>(numerator) / static_cast<double>(power)));
    }
    return slopes;
}

}  // namespace causeway
