#include "train_resume.hpp"

#include <filesystem>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/append_file.hpp"
#include "io/step_lines.hpp"
#include "io/temporary_name.hpp"
#include "output.hpp"
#include "train/resume_rules.hpp"
#include "train_files.hpp"
#include "train_texts.hpp"

namespace causeway::cli {
namespace {

namespace fs = std::filesystem;

RunFolder existing(const std::string& folder) {
    std::error_code ignored;
    if (fs::is_directory(folder, ignored)) return {folder};
    throw IoError(fmt::format("{}: is not the folder of a run: there is no such folder (--resume)", folder));
}

/// The config in the folder is what the run was last asked for; a kill while a run began may have left only the
/// checkpoint's.
Config config_of(const RunFolder& run, const train::FoundCheckpoint& found, const std::vector<std::string>& overrides) {
    std::error_code ignored;
    if (found.checkpoint && !fs::exists(run.config(), ignored)) {
        return load_config(found.checkpoint->at().config(), overrides);
    }
    Config config = load_run(run, overrides);
    if (found.checkpoint) return config;
    if (!fs::exists(run.parameters(), ignored)) return config;
    throw IoError(
        fmt::format("{}: has a model but no checkpoint to go on from; --init-from starts another run from its "
                    "weights",
                    run.folder));
}

}  // namespace

InterruptedRun::InterruptedRun(const std::string& folder, const std::vector<std::string>& overrides)
    : folder_(existing(folder)),
      lock_(folder),
      found_(train::find_checkpoint(folder_)),
      config_(config_of(folder_, found_, overrides)) {
    // Before anything is compiled and reserved.
    if (found_.checkpoint) train::resume_changes(found_.checkpoint->config(), config_);
}

void InterruptedRun::load_into(train::Trainer& trainer) {
    if (found_.checkpoint) {
        resumed_ = train::resume(trainer, found_);
    } else {
        resumed_.notes.emplace_back("there is no checkpoint yet: from the beginning");
    }
}

std::string InterruptedRun::what() const {
    return resumed_.step == 0 ? fmt::format("resuming {} before its first step", folder_.folder)
                              : fmt::format("resuming {} after step {}", folder_.folder, resumed_.step);
}

std::string InterruptedRun::notes_text() const {
    std::string text;
    for (const std::string& note : resumed_.notes) text += fmt::format("resume  {}\n", note);
    return text;
}

std::string InterruptedRun::finished_text(const train::Trainer& trainer, train::EndedBy ended_by) const {
    return fmt::format("{}: the run is done: {} of {}; --set train.{}=N goes on with more\n", folder_.folder,
                       resumed_.step, plural(trainer.step_limit().steps.value_or(resumed_.step), "step"),
                       to_string(ended_by));
}

/// The line of the checkpoint's step is in the checkpoint too: a full disk may have taken that one only.
void InterruptedRun::continue_metrics() {
    const std::string path = folder_.metrics();
    const std::string line = found_.checkpoint ? found_.checkpoint->record().metrics_line : "";
    StepLines lines = cut_after(path, resumed_.step);
    if (lines.last < resumed_.step && !line.empty()) {
        AppendFile(path, AppendFile::Mode::append).write_line(line);
        --lines.missing;
    }
    if (lines.missing == 0) return;
    complain("causeway train",
             fmt::format("{}: has no lines for {} of the {} steps so far", path, lines.missing, resumed_.step));
}

void InterruptedRun::continue_files(train::RunCheckpoints& checkpoints) {
    remove_abandoned(folder_.folder);
    remove_unfinished(folder_.checkpoints());
    train::set_aside(found_);
    continue_metrics();
    write_config(folder_, config_);
    if (found_.checkpoint) checkpoints.resumed_from(*found_.checkpoint);
    found_ = {};
}

}  // namespace causeway::cli
