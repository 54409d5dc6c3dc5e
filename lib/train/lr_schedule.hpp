#pragma once

#include <cstdint>

#include "config/config.hpp"

namespace causeway::train {

/// The learning rate of step i, counted from 0, of a run of train.max_steps steps with W = train.warmup_steps:
///   warm-up (i < W): max (i + 1) / (W + 1), so that the first step learns already;
///   afterwards, with progress p = (i - W) / (max_steps - W) kept within [0, 1]:
///   constant: max; linear: max - p (max - min); cosine: min + (1 + cos(pi p)) / 2 (max - min)  (Loshchilov, Hutter
///   2017). From max_steps on, linear and cosine stay at min.
/// Always finite, never above max, and never below min once warmed up; a warm-up as long as the run, or longer, is
/// legal and leaves no room for the rest.
double learning_rate(const TrainConfig& train, std::int64_t i);

}  // namespace causeway::train
