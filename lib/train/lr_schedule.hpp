#pragma once

#include <cstdint>

#include "config/config.hpp"

namespace causeway::train {

/// The learning rate of step i, counted from 0, of a run of `steps` steps, with W = train.warmup_steps:
///   warm-up (i < W): max (i + 1) / (W + 1), so that the first step learns already;
///   afterwards, with progress p = (i - W) / (steps - W) kept within [0, 1]:
///   constant:     max
///   linear:       max - p (max - min)
///   cosine:       min + (1 + cos(pi p)) / 2 (max - min)  (Loshchilov, Hutter 2017)
///   minimind:     max (0.1 + 0.45 (1 + cos(pi p)))  (MiniMind's get_lr, which has no warm-up)
///   wsd:          max, and over the last D = train.decay_steps (0: a fifth of the steps, rounded up; never more than
///                 follow the warm-up) max - (i - steps + D) / D (max - min)  (Hu et al. 2024, with a linear decay)
///   inverse_sqrt: max sqrt((W + 1) / (i + 1)), never below min  (Vaswani et al. 2017; fairseq)
/// From the last step on, linear, cosine and wsd stay at min, minimind at max / 10.
/// Always finite, never above max, and never below min once warmed up; a warm-up as long as the run, or longer, is
/// legal and leaves no room for the rest.
double learning_rate(const TrainConfig& train, std::int64_t steps, std::int64_t i);

/// True for schedules that depend on `steps`.
bool needs_end(LrSchedule schedule);

}  // namespace causeway::train
