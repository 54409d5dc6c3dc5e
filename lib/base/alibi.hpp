#pragma once

#include <cstdint>
#include <vector>

namespace causeway {

/// The slopes of ALiBi (Press, Smith, Lewis 2022: "Train short, test long", section 3): 2^(-8 (h + 1) / n) for the
/// first n heads, n the largest power of two up to `heads`; the remaining heads take every other slope of 2 n heads.
std::vector<double> alibi_slopes(std::int64_t heads);

}  // namespace causeway
