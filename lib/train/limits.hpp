#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "config/config.hpp"
#include "train/windows.hpp"

namespace causeway::train {

/// What ended a run: the limit of section "train" that was reached first, or a request to stop.
enum class EndedBy { max_steps, max_epochs, max_tokens, max_time_s, stop };
/// The field's name, or "stop".
std::string_view to_string(EndedBy ended_by);

/// Where a run ends as far as that is known beforehand, from train.max_steps, max_epochs and max_tokens. Learning-rate
/// schedules span these steps.
struct StepLimit {
    std::optional<std::int64_t> steps;  ///< none: only train.max_time_s or a stop ends the run
    EndedBy by = EndedBy::max_time_s;   ///< the smallest of the limits, the first named above among equals
};

/// Throws ConfigError for train.max_epochs where there are no epochs (steps_per_epoch 0), and for a schedule that must
/// know its end where no limit says it.
StepLimit step_limit(const TrainConfig& train, const Windows& windows, std::int64_t steps_per_epoch);

}  // namespace causeway::train
