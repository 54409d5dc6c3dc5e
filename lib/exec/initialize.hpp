#pragma once

#include <cstdint>

#include "plan/execution_plan.hpp"

namespace causeway {

/// Fills a parameter or constant from its planned initializer. Random ones draw from stream `stream` of the seed, in
/// double, element by element in memory order. Float and double plans get the same values up to rounding.
void initialize(const PlannedValue& value, void* data, std::uint64_t seed, std::uint64_t stream);

}  // namespace causeway
