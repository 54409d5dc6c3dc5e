#pragma once

// Whole-number helpers of the kernels, in the ISA's own namespace: see arch.hpp about inline functions.

#include <cstdint>

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

constexpr std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
constexpr std::int64_t most(std::int64_t a, std::int64_t b) { return a > b ? a : b; }
constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
constexpr std::int64_t round_up(std::int64_t a, std::int64_t b) { return divide_up(a, b) * b; }

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
