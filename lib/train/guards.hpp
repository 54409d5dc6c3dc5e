#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/config.hpp"

namespace causeway::train {

/// What went wrong with a step.
enum class StepFault {
    none,
    non_finite,  ///< a loss or gradient that is NaN, infinite, or beyond what the optimizer can keep
    spike,       ///< a gradient norm above train.spike_factor times the usual one
};

/// The enumerator's name.
std::string_view to_string(StepFault fault);

/// What the guards remember from step to step: plain numbers, a part of a checkpoint.
struct GuardState {
    double weighted_norms = 0;          ///< of updates: norms that fade by 0.98 an update
    double weights = 0;                 ///< sum of their weights; weighted_norms / weights is the usual norm
    std::int64_t updates = 0;           ///< that are in it
    std::int64_t skipped = 0;           ///< steps left out because of a fault
    std::int64_t skipped_in_a_row = 0;  ///< up to now

    bool operator==(const GuardState&) const = default;
};

/// Says when a gradient norm is a spike, and when too many steps were left out.
class Guards {
  public:
    /// Steps that may be left out in a row: then nothing is learned any more, and the run ends with an error.
    static constexpr std::int64_t most_skips_in_a_row = 10;
    /// Updates after which the usual norm is known well enough to call another one a spike.
    static constexpr std::int64_t updates_before_spikes = 20;

    explicit Guards(const TrainConfig& train) : spike_factor_(train.spike_factor) {}

    /// A norm above it is a spike; infinite as long as nothing is.
    double norm_limit() const;
    /// The mean norm of about the last fifty updates; 0 before the first.
    double usual_norm() const;
    /// An update with that norm was made.
    void updated(double norm);
    /// A step was left out because of what `text` says. Throws NumericError when it is one too many.
    void skipped(const std::string& text);

    const GuardState& state() const { return state_; }
    void restore(const GuardState& state) { state_ = state; }

  private:
    double spike_factor_;
    GuardState state_;
};

}  // namespace causeway::train
