#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inspect/report/run_card.hpp"
#include "inspect/report/run_report.hpp"
#include "io/run_folder.hpp"
#include "io/tensorboard/event_file.hpp"
#include "train/trainer.hpp"
#include "train_samples.hpp"

namespace causeway::cli {

/// The records of a run for people: run.json, samples, report.html, TensorBoard's event files. None of them ends a run:
/// one that cannot be written is told once and tried again.
class TrainRecords {
  public:
    /// Begins the records of a run that starts, or goes on, after the trainer's steps done; files that are there
    /// already end with that step. `peak`: measured FLOPs a second, 0 when unknown. Throws IoError.
    TrainRecords(train::Trainer& trainer, TrainSamples& samples, const RunFolder& run, double peak);

    /// After metrics.jsonl has the step's line. Returns what cannot be written, for the first time; empty: nothing to
    /// say.
    [[nodiscard]] std::string after_step(const train::Progress& progress);
    /// When the steps after that one were undone: what was recorded of them goes too.
    [[nodiscard]] std::string roll_back(std::int64_t step);
    /// When the run has ended, in words: "train.max_steps after 2000 steps", "SIGINT after 12 steps".
    [[nodiscard]] std::string end(report::RunState state, const std::string& why);
    /// True when something that was asked for could not be written.
    bool failed() const { return failed_; }

  private:
    template <class F>
    void attempt(const char* what, std::string& trouble, F&& f);
    void write_events(const train::Progress& progress, const std::optional<std::string>& sample);
    void write_card();

    RunFolder run_;
    TrainSamples& samples_;
    report::RunCard card_;
    std::optional<report::RunReport> report_;
    std::optional<tensorboard::EventFile> events_;
    std::vector<std::string> told_;  ///< names of records that could not be written
    bool failed_ = false;
};

}  // namespace causeway::cli
