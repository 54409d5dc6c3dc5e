#include "train/limits.hpp"

#include <array>
#include <cmath>

#include "base/ceil_div.hpp"
#include "base/limits.hpp"
#include "causeway/error.hpp"
#include "train/lr_schedule.hpp"

namespace causeway::train {
namespace {

std::int64_t steps_of_epochs(double epochs, std::int64_t steps_per_epoch) {
    if (steps_per_epoch == 0) {
        throw ConfigError(
            "train.max_epochs: the data has no epochs: expected data.sampling epoch, or train.steps_per_epoch to say "
            "what one is");
    }
    const double steps = std::ceil(epochs * static_cast<double>(steps_per_epoch));
    return steps < static_cast<double>(most_steps) ? static_cast<std::int64_t>(steps) : most_steps;
}

}  // namespace

std::string_view to_string(EndedBy ended_by) {
    constexpr std::array<std::string_view, 5> names{"max_steps", "max_epochs", "max_tokens", "max_time_s", "stop"};
    return names[static_cast<std::size_t>(ended_by)];
}

StepLimit step_limit(const TrainConfig& train, const Windows& windows, std::int64_t steps_per_epoch) {
    StepLimit limit;
    const auto add = [&](std::int64_t steps, EndedBy by) {
        if (!limit.steps || steps < *limit.steps) limit = {steps, by};
    };
    if (train.max_steps > 0) add(train.max_steps, EndedBy::max_steps);
    if (train.max_epochs > 0) add(steps_of_epochs(train.max_epochs, steps_per_epoch), EndedBy::max_epochs);
    if (train.max_tokens > 0) {
        add(windows.until(ceil_div(train.max_tokens, train.sequence_length)), EndedBy::max_tokens);
    }
    if (!limit.steps && needs_end(train.lr_schedule)) {
        throw ConfigError(
            "train.lr_schedule: this schedule falls towards the run's last step: expected train.max_steps, max_epochs "
            "or max_tokens to say which that is, or a constant or inverse_sqrt schedule");
    }
    return limit;
}

}  // namespace causeway::train
