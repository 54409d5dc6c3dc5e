#include "train/resume.hpp"

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "train/resume_rules.hpp"
#include "train/trainer.hpp"

namespace causeway::train {
namespace {

void check_same_data(const Trainer& trainer, const CheckpointRecord& saved) {
    const std::string found = trainer.data_fingerprint();
    if (found == saved.data_fingerprint) return;
    throw DataError(
        fmt::format("the data is not what the run was trained on so far ({}): found the fingerprint {}, "
                    "expected {}; --init-from starts another run from its weights",
                    trainer.data_description(), found, saved.data_fingerprint));
}

std::vector<std::string> notes_of(const Trainer& trainer, const Checkpoint& checkpoint) {
    std::vector<std::string> notes;
    for (std::string& change : resume_changes(checkpoint.config(), trainer.config()))
        notes.push_back(std::move(change));
    const CheckpointRecord now = record_of(trainer);
    const CheckpointRecord& then = checkpoint.record();
    if (now.isa != then.isa) {
        notes.push_back(
            fmt::format("kernels of {}, so far {}: results differ in rounding from here on", now.isa, then.isa));
    }
    if (now.version != then.version) {
        notes.push_back(fmt::format("causeway {}, so far {}: results may differ in rounding from here on", now.version,
                                    then.version));
    }
    return notes;
}

}  // namespace

Resumed resume(Trainer& trainer, const FoundCheckpoint& found) {
    const Checkpoint& checkpoint = found.checkpoint.value();
    Resumed resumed;
    resumed.step = checkpoint.record().trainer.step;
    resumed.checkpoint = checkpoint.at().folder;
    resumed.notes = notes_of(trainer, checkpoint);
    for (const std::string& fault : found.faults) {
        resumed.warnings.push_back(fmt::format("{}; going on from the older {}", fault, resumed.checkpoint));
    }
    check_same_data(trainer, checkpoint.record());
    checkpoint.load_into(trainer);
    return resumed;
}

}  // namespace causeway::train
