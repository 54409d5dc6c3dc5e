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

/// Says when a gradient norm is a spike, and when too many steps were left out or taken back.
class Guards {
  public:
    /// Steps that may be left out in a row, and rollbacks that may follow each other before the run gets further than
    /// it was: then nothing is learned any more, and the run ends with an error.
    static constexpr std::int64_t most_in_a_row = 10;
    /// Updates after which the usual norm is known well enough to call another one a spike.
    static constexpr std::int64_t updates_before_spikes = 20;

    explicit Guards(const TrainConfig& train) : spike_factor_(train.spike_factor) {}

    /// A norm above it is a spike; infinite as long as nothing is.
    double norm_limit() const;
    /// The mean norm of about the last fifty updates; 0 before the first.
    double usual_norm() const;
    /// The update of that step was made, with that norm.
    void updated(std::int64_t step, double norm);
    /// A step was left out because of what `text` says. Throws NumericError when it is one too many.
    void skipped(const std::string& text);
    /// The run goes back to a checkpoint because of what `text` says of that step. Throws as skipped() does.
    void rolling_back(std::int64_t step, const std::string& text);

    const GuardState& state() const { return state_; }
    void restore(const GuardState& state) { state_ = state; }

  private:
    double spike_factor_;
    GuardState state_;
    std::int64_t rollbacks_ = 0;  ///< since the run was further than step
    std::int64_t furthest_ = 0;   ///< this
};

}  // namespace causeway::train
