#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "config/config.hpp"
#include "tensor/named_tensor.hpp"

namespace causeway {

/// Fills parameters (f32 or f64, the same numbers up to rounding) for a check. They are wider than a fresh model's:
/// biases are not 0, gains are not 1, and attention is far from uniform, so that no term of a gradient hides.
/// Matrices (N,K) are N(0, 1.5 / sqrt(K)) with embedding tables as such, gains 1 + N(0, 0.2), biases N(0, 0.2).
void draw_check_parameters(std::vector<NamedTensor>& parameters, std::uint64_t seed);

/// Random tokens and targets; every seventh target is ignored where there are more than seven.
void draw_check_batch(std::int64_t vocab_size, std::uint64_t seed, std::span<std::int32_t> tokens,
                      std::span<std::int32_t> targets);

}  // namespace causeway
