#include "train/lr_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace causeway::train {

double learning_rate(const TrainConfig& train, std::int64_t i) {
    const double max = train.learning_rate, min = train.min_learning_rate;
    const std::int64_t warmup = train.warmup_steps, decay = train.max_steps - warmup;
    if (i < warmup) return max * (static_cast<double>(i + 1) / static_cast<double>(warmup + 1));
    if (train.lr_schedule == LrSchedule::constant) return max;

    const double progress = i - warmup >= decay ? 1.0 : static_cast<double>(i - warmup) / static_cast<double>(decay);
    const double share =
        train.lr_schedule == LrSchedule::linear ? 1 - progress : 0.5 * (1 + std::cos(std::numbers::pi * progress));
    return std::clamp(min + share * (max - min), min, max);
}

}  // namespace causeway::train
