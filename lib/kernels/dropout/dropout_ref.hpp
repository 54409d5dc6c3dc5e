#pragma once

#include <cstdint>

#include "base/philox.hpp"
#include "kernels/dropout/dropout.hpp"

// Included by .ref.cpp files only.

namespace causeway::kernels::reference {

/// What element (row, head, query, c) is multiplied with: see DropoutMask.
inline double dropout_factor(const DropoutMask& mask, std::int64_t row, std::int64_t head, std::int64_t query,
                             std::int64_t c) {
    if (!mask) return 1;
    const auto words =
        philox4x32({static_cast<std::uint32_t>(c / 32 * 8 + c % 16 / 2), static_cast<std::uint32_t>(query),
                    static_cast<std::uint32_t>(head), mask.first_row + static_cast<std::uint32_t>(row)},
                   {mask.key[0], mask.key[1]});
    return words[static_cast<std::size_t>(c % 32 / 16 * 2 + c % 2)] < mask.threshold ? 0.0 : mask.scale;
}

}  // namespace causeway::kernels::reference
