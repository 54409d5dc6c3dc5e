#include "train/guards.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

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

void Guards::updated(double norm) {
    state_.weighted_norms = fade * state_.weighted_norms + norm;
    state_.weights = fade * state_.weights + 1;
    ++state_.updates;
    state_.skipped_in_a_row = 0;
}

void Guards::skipped(const std::string& text) {
    ++state_.skipped;
    ++state_.skipped_in_a_row;
    if (state_.skipped_in_a_row > most_skips_in_a_row) {
        throw NumericError(fmt::format("{}; {} steps in a row were left out before it, more than which does not help",
                                       text, most_skips_in_a_row));
    }
}

}  // namespace causeway::train
