#pragma once

#include <cstdint>

#include "train/guards.hpp"

namespace causeway::train {

/// Everything beside parameters, moments and config that decides how a trainer goes on: plain numbers, which a
/// checkpoint keeps as they are. All that is random comes from counters among them.
struct TrainerState {
    std::int64_t step = 0;     ///< optimizer steps done
    std::int64_t window = 0;   ///< windows of data seen, the data's position: as many as steps, more after a rollback
    std::int64_t updates = 0;  ///< steps that changed parameters
    double epoch_loss = 0;     ///< sum over the valid targets of the epoch so far
    std::int64_t epoch_tokens = 0;
    double elapsed_seconds = 0;  ///< of training, all parts of an interrupted run together
    GuardState guards;

    bool operator==(const TrainerState&) const = default;
};

}  // namespace causeway::train
