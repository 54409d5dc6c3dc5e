#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "inspect/run_profile.hpp"
#include "inspect/run_timeline.hpp"
#include "train/trainer.hpp"

namespace causeway::cli {

/// What is to be seen of where a run's time goes.
struct TrainWatchOptions {
    bool profile = false;
    std::string trace;             ///< file; empty: none
    std::int64_t trace_steps = 5;  ///< training steps in it
};

/// --profile, --trace, --trace-steps
void add_watch_options(CLI::App* app, TrainWatchOptions& options);

/// The bytes that recording a trace takes, 0 without one. Throws CapacityError, with the figures, when they do not fit
/// beside the `taken` ones of the model into runtime.memory_limit_mb or, without a limit, into `available`.
std::size_t check_watch_memory(train::Trainer& trainer, const TrainWatchOptions& options, std::size_t taken,
                               std::size_t available);

/// Watches a run as asked for; costs nothing when nothing was.
class TrainWatch {
  public:
    /// Reserves all the memory that watching takes.
    TrainWatch(train::Trainer& trainer, const TrainWatchOptions& options);

    /// Writes the trace once its steps are done. Returns why it cannot be written, which is no reason to end a run;
    /// empty: there is nothing to say.
    [[nodiscard]] std::string after_step(const train::Progress& progress);
    /// When the run has ended, early or not: writes a trace that is not full yet, and returns as after_step.
    [[nodiscard]] std::string after_run();
    /// The profile of a run that took that long until after_run; empty when none was asked for.
    std::string profile(double run_seconds) const;
    /// True when something that was asked for could not be written.
    bool failed() const { return failed_; }

  private:
    std::string write_trace();

    train::Trainer& trainer_;
    TrainWatchOptions options_;
    std::optional<RunProfile> profile_;
    std::optional<RunTimeline> timeline_;
    double seconds_after_run_ = 0;  ///< taken by after_run
    bool failed_ = false;
};

}  // namespace causeway::cli
