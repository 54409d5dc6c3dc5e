#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/run_folder.hpp"
#include "train/checkpoint.hpp"

namespace causeway::train {

/// Of a run, newest first: what is named DIR/checkpoints/step_<digits>, whole or not.
std::vector<CheckpointFolder> list_checkpoints(const RunFolder& run);

/// The newest checkpoint of a run that is as it was written.
struct FoundCheckpoint {
    std::optional<Checkpoint> checkpoint;  ///< none: the run has none at all
    /// Newer ones that are damaged, and what is wrong with each.
    std::vector<CheckpointFolder> damaged;
    std::vector<std::string> faults;
};

/// Throws IoError, with what is wrong with the newest, when the run has checkpoints and all are damaged, and for what
/// keeps the newest from being read other than damage.
FoundCheckpoint find_checkpoint(const RunFolder& run);

/// Renames damaged checkpoints to step_<digits>.damaged, out of the way of the run that makes them anew, for whoever
/// wants to look at them. Throws IoError.
void set_aside(const FoundCheckpoint& found);

/// The checkpoints that a run makes: keeps train.keep_checkpoints newest ones and the best, whose model had the lowest
/// validation loss, and the run's model.safetensors up to date.
class RunCheckpoints {
  public:
    /// The trainer, whose data is that of the run now, must outlive this.
    RunCheckpoints(RunFolder run, Trainer& trainer);

    /// To be told before the run goes on from a checkpoint. Removes what is to go by now.
    void resumed_from(const Checkpoint& checkpoint);
    /// To be told after each evaluation in which a target counts.
    void evaluated(std::int64_t step, double loss);

    /// Saves the trainer between two steps, unless that was done after just this step, makes the run's
    /// model.safetensors a link to the saved one, and removes what is to go. `metrics_line` is the one of the step.
    /// Throws IoError, the older checkpoints untouched, for what the system refuses, and when the data is no longer
    /// what it was.
    void save(const std::string& metrics_line);

    /// Puts the trainer where its newest good checkpoint stands, with the data's position beyond the present step: see
    /// Checkpoint::roll_back. Returns the step. Throws IoError when there is none.
    std::int64_t roll_back();

    /// The step that was saved last, or resumed from; none: there is no checkpoint yet.
    std::optional<std::int64_t> newest() const { return newest_; }

  private:
    std::string current_fingerprint() const;
    void remove_old();

    RunFolder run_;
    Trainer& trainer_;
    std::string data_fingerprint_;  ///< of the data as it was opened
    std::optional<std::int64_t> newest_;
    std::optional<BestEvaluation> last_evaluation_, best_;
};

}  // namespace causeway::train
