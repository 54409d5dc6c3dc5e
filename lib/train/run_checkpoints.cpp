#include "train/run_checkpoints.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <system_error>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/atomic_file.hpp"
#include "io/atomic_folder.hpp"
#include "io/file_descriptor.hpp"
#include "io/mapped_file.hpp"
#include "train/trainer.hpp"

namespace causeway::train {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view name_head = "step_";

std::optional<std::int64_t> step_of(const std::string& name) {
    std::int64_t step = 0;
    if (!name.starts_with(name_head)) return std::nullopt;
    const char* const end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + name_head.size(), end, step);
    return error == std::errc() && rest == end && step >= 0 ? std::optional(step) : std::nullopt;
}

/// Folders by step.
std::map<std::int64_t, CheckpointFolder> checkpoints_of(const RunFolder& run) {
    std::map<std::int64_t, CheckpointFolder> found;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(run.checkpoints(), ignored)) {
        const std::string name = entry.path().filename().string();
        if (const auto step = step_of(name)) found[*step] = {run.checkpoints() + "/" + name};
    }
    return found;
}

/// The validation loss that a checkpoint names; none where it has none, or cannot be read.
std::optional<double> validation_loss_of(const CheckpointFolder& at) {
    try {
        return parse_record(std::string(MappedFile(at.state()).text()), at.state()).validation_loss;
    } catch (const IoError&) {
        return std::nullopt;
    }
}

}  // namespace

std::vector<CheckpointFolder> list_checkpoints(const RunFolder& run) {
    std::vector<CheckpointFolder> newest_first;
    for (const auto& [step, folder] : checkpoints_of(run)) newest_first.push_back(folder);
    std::ranges::reverse(newest_first);
    return newest_first;
}

FoundCheckpoint find_checkpoint(const RunFolder& run) {
    FoundCheckpoint found;
    for (const CheckpointFolder& folder : list_checkpoints(run)) {
        try {
            found.checkpoint.emplace(folder);
            return found;
        } catch (const DamageError& error) {
            found.damaged.push_back(folder);
            found.faults.emplace_back(error.what());
        }
    }
    if (found.faults.empty()) return found;
    throw IoError(fmt::format("{}: all {} checkpoints of the run are damaged; the newest: {}", run.checkpoints(),
                              found.faults.size(), found.faults.front()));
}

void set_aside(const FoundCheckpoint& found) {
    for (const CheckpointFolder& folder : found.damaged) {
        std::error_code error;
        const std::string aside = folder.folder + ".damaged";
        fs::remove_all(aside, error);
        fs::rename(folder.folder, aside, error);
        if (error) throw_file_error(folder.folder, "rename", error.value());
    }
}

RunCheckpoints::RunCheckpoints(RunFolder run, Trainer& trainer)
    : run_(std::move(run)), trainer_(trainer), data_fingerprint_(trainer.data_fingerprint()) {}

void RunCheckpoints::resumed_from(const Checkpoint& checkpoint) {
    newest_ = checkpoint.record().trainer.step;
    best_ = checkpoint.record().best;
    link_atomically(checkpoint.at().parameters(), run_.parameters());
    remove_old();  // a run that ended on a full disk may be resumed with fewer to keep
}

void RunCheckpoints::evaluated(std::int64_t step, double loss) {
    last_evaluation_ = BestEvaluation{step, loss};
    if (!best_ || loss < best_->loss) best_ = last_evaluation_;
}

void RunCheckpoints::save(const std::string& metrics_line) {
    const std::int64_t step = trainer_.steps_done();
    if (newest_ == step) return;
    CheckpointRecord record = record_of(trainer_);
    record.data_fingerprint = current_fingerprint();
    record.metrics_line = metrics_line;
    record.best = best_;
    if (last_evaluation_ && last_evaluation_->step == step) record.validation_loss = last_evaluation_->loss;
    make_folder(run_.checkpoints());
    const CheckpointFolder folder{fmt::format("{}/{}{:08}", run_.checkpoints(), name_head, step)};
    write_checkpoint(folder, trainer_, record);
    newest_ = step;
    link_atomically(folder.parameters(), run_.parameters());
    remove_old();
}

std::int64_t RunCheckpoints::roll_back() {
    const FoundCheckpoint found = find_checkpoint(run_);
    if (!found.checkpoint) throw IoError(fmt::format("{}: has no checkpoint to go back to", run_.folder));
    found.checkpoint->roll_back(trainer_);
    newest_ = trainer_.steps_done();
    return *newest_;
}

/// What was learned from other data than the run began with must not become what it goes on from.
std::string RunCheckpoints::current_fingerprint() const {
    std::string found;
    try {
        found = trainer_.data_fingerprint();
    } catch (const IoError&) {  // a file is shorter now: no step has read it since, what was learned is good
        return data_fingerprint_;
    }
    if (found == data_fingerprint_) return found;
    throw IoError(
        fmt::format("the data has changed while it was being read ({}): found the fingerprint {}, expected {}; "
                    "the model is not saved",
                    trainer_.data_description(), found, data_fingerprint_));
}

void RunCheckpoints::remove_old() {
    const std::map<std::int64_t, CheckpointFolder> all = checkpoints_of(run_);
    std::optional<std::int64_t> best;
    std::optional<double> lowest;
    for (const auto& [step, folder] : all) {
        const std::optional<double> loss = validation_loss_of(folder);
        if (!loss || (lowest && *loss > *lowest)) continue;
        lowest = loss;
        best = step;
    }
    auto younger = static_cast<std::int64_t>(all.size());  // this one and those after it
    for (const auto& [step, folder] : all) {
        if (younger-- > trainer_.config().train.keep_checkpoints && best != step) remove_folder(folder.folder);
    }
}

}  // namespace causeway::train
