#include "train/guards.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway::train {
namespace {

constexpr double fade = 0.98;

}  // namespace

std::string_view to_string(StepFault fault) {
    constexpr std::array<std::string_view, 3> names{"none", "non_finite", "spike"};
    return names[static_cast<std::size_t>(fault)];
}

double Guards::usual_norm() const { return state_.weights > 0 ? state_.weighted_norms / state_.weights : 0; }

double Guards::norm_limit() const {
    if (spike_factor_ == 0 || state_.updates < updates_before_spikes) return std::numeric_limits<double>::infinity();
    return spike_factor_ * usual_norm();
}

void Guards::updated(std::int64_t step, double norm) {
    if (step > furthest_) rollbacks_ = 0;
    state_.weighted_norms = fade * state_.weighted_norms + norm;
    state_.weights = fade * state_.weights + 1;
    ++state_.updates;
    state_.skipped_in_a_row = 0;
}

void Guards::skipped(const std::string& text) {
    ++state_.skipped;
    ++state_.skipped_in_a_row;
    if (state_.skipped_in_a_row > most_in_a_row) {
        throw NumericError(fmt::format("{}; {} steps in a row were left out before it, more than which does not help",
                                       text, most_in_a_row));
    }
}

void Guards::rolling_back(std::int64_t step, const std::string& text) {
    furthest_ = std::max(furthest_, step);
    if (++rollbacks_ > most_in_a_row) {
        throw NumericError(
            fmt::format("{}; the run went back to a checkpoint {} times without getting further than "
                        "step {}, more than which does not help",
                        text, most_in_a_row, furthest_));
    }
}

}  // namespace causeway::train
