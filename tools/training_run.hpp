#pragma once

#include <optional>
#include <string>

#include "bus_error.hpp"
#include "causeway/error.hpp"
#include "io/run_folder.hpp"
#include "stop_signal.hpp"
#include "train/metrics.hpp"
#include "train/run_checkpoints.hpp"
#include "train/trainer.hpp"
#include "train_progress.hpp"
#include "train_records.hpp"
#include "train_watch.hpp"

namespace causeway::cli {

/// What a run works with; all of it must outlive the run.
struct RunParts {
    train::Trainer& trainer;
    train::RunCheckpoints& checkpoints;
    TrainWatch& watch;
    TrainRecords& records;
    StopSignal& signal;
    RunFolder folder;
    RunFacts facts;
    AppendFile::Mode metrics = AppendFile::Mode::truncate;  ///< append: goes on with the metrics that are there
    bool quiet = false;
};

/// Steps until the end, a signal, or the loss of standard output, and saves in each case, and every
/// train.checkpoint_every steps. What the run throws comes through after what was learned is saved.
class TrainingRun {
  public:
    explicit TrainingRun(const RunParts& parts);

    /// The exit code.
    int operator()();

  private:
    /// Says something on standard output. When nobody listens any more the run ends as after Ctrl-C.
    template <class F>
    void say(F&& f) {
        if (!parts_.quiet) say_always(f);
    }
    template <class F>
    void say_always(F&& f);

    void after_step(const train::Progress& progress);
    void roll_back(const std::string& reason);
    void save();
    void warn(const std::string& trouble);
    void show_watched(double run_seconds);
    std::string save_after(const Error& error);
    int outcome(const train::RunResult& result) const;
    std::string end_text(const train::RunResult& result) const;
    std::string signal_text(const train::RunResult& result) const;

    RunParts parts_;
    BusErrorNote bus_error_;
    std::optional<train::MetricsWriter> metrics_;  ///< made anew after a rollback
    TrainProgress display_;
    std::string lost_output_;
    bool saving_failed_ = false;
};

}  // namespace causeway::cli
