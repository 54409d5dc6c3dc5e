#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "train/trainer.hpp"

namespace causeway::cli {

/// What does not change during a run, for the display.
struct RunFacts {
    std::int64_t max_steps = 0;  ///< 0: unknown
    double max_seconds = 0;      ///< 0: no such limit
    std::int64_t log_every = 1;
    double flops_per_step = 0;
    double peak_flops_per_second = 0;  ///< measured, of all threads; 0: unknown
};

/// Shows how training goes. Off a terminal: a line at step 1, every log_every steps and at the last, each complete and
/// flushed. On a terminal: one line that is redrawn in place. Validations and epochs get lines that stay, on both.
class TrainProgress {
  public:
    TrainProgress(const RunFacts& facts, bool terminal, bool colour)
        : facts_(facts), terminal_(terminal), colour_(colour) {}

    /// Throws OutputError.
    void show(const train::Progress& progress);
    /// Ends the line that is being redrawn, if any.
    void finish();

  private:
    using Clock = std::chrono::steady_clock;
    void count(const train::StepReport& step);
    void show_step(const train::Progress& progress);
    /// Everything, for a log.
    std::string step_line(const train::StepReport& step) const;
    /// As much as fits, with the latest validation, for a terminal of that many columns.
    std::string short_line(const train::StepReport& step, std::size_t width) const;
    double mfu() const;  ///< model FLOPs utilisation: share of the measured peak
    double seconds_left(const train::StepReport& step) const;
    std::string stay_lines(const train::Progress& progress) const;
    std::string step_text(const train::StepReport& step) const;
    bool is_due(const train::Progress& progress);

    RunFacts facts_;
    bool terminal_;
    bool colour_;
    bool drawn_ = false;  ///< the cursor stands behind a line that may be redrawn
    Clock::time_point last_drawn_;
    double tokens_ = 0, seconds_ = 0, steps_ = 0;  ///< since the last line, or faded, for the rates
    std::optional<double> validation_loss_;        ///< the latest
    double seconds_per_step_ = 0;                  ///< of the whole run so far, validation included
    double elapsed_seconds_ = 0;
};

/// "1:02:03", "4:05"
std::string duration_text(double seconds);

}  // namespace causeway::cli
