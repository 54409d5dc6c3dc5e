#pragma once

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

/// Watches a run as asked for; costs nothing when nothing was.
class TrainWatch {
  public:
    TrainWatch(train::Trainer& trainer, const TrainWatchOptions& options);

    /// Writes the trace once its steps are done. Throws IoError.
    void after_step(const train::Progress& progress);
    /// When the run has ended, early or not: writes a trace that is not full yet; returns the profile.
    std::string finish(const train::RunResult& result);

  private:
    void write_trace();

    train::Trainer& trainer_;
    TrainWatchOptions options_;
    std::optional<RunProfile> profile_;
    std::optional<RunTimeline> timeline_;
};

}  // namespace causeway::cli
