#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "io/folder_lock.hpp"
#include "io/run_folder.hpp"
#include "train/resume.hpp"
#include "train/run_checkpoints.hpp"
#include "train/trainer.hpp"

namespace causeway::cli {

/// A run that is to go on: its folder, locked, its newest good checkpoint, its config with what --set changes.
class InterruptedRun {
  public:
    /// Throws IoError for a folder that is no run's or in use, ConfigError for a field that may not change. A run that
    /// was ended before its first checkpoint is legal: it begins again. Changes nothing.
    InterruptedRun(const std::string& folder, const std::vector<std::string>& overrides);

    const RunFolder& folder() const { return folder_; }
    const Config& config() const { return config_; }

    /// Puts a trainer made from config() where the checkpoint stands; see train::resume.
    void load_into(train::Trainer& trainer);
    /// What is to be known even when nothing is printed; after load_into.
    const std::vector<std::string>& warnings() const { return resumed_.warnings; }
    /// "resuming DIR after step 120"
    std::string what() const;
    /// The changed fields, a line each.
    std::string notes_text() const;
    /// For a run that has all its steps.
    std::string finished_text(const train::Trainer& trainer, train::EndedBy ended_by) const;

    /// Makes the folder that of the run again at the step of the checkpoint: no later metrics, no unfinished files, the
    /// config as it is now. Gives the checkpoint's memory back. Throws IoError.
    void continue_files(train::RunCheckpoints& checkpoints);

  private:
    void continue_metrics();

    RunFolder folder_;
    FolderLock lock_;
    train::FoundCheckpoint found_;
    Config config_;
    train::Resumed resumed_;
};

}  // namespace causeway::cli
