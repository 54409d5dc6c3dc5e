#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "train/trainer_state.hpp"

namespace causeway::train {

/// The best evaluation of a run.
struct BestEvaluation {
    std::int64_t step = 0;
    double loss = 0;

    bool operator==(const BestEvaluation&) const = default;
};

/// The content of a checkpoint's state.json.
struct CheckpointRecord {
    /// Of the files; a newer one is refused. Raised when an older causeway would misread what is written.
    static constexpr std::int64_t format = 1;

    TrainerState trainer;
    std::optional<double> validation_loss;  ///< of just this model, when it was evaluated
    std::optional<BestEvaluation> best;     ///< of the run so far, saved or not
    std::string metrics_line;               ///< of the step, as in metrics.jsonl; empty: none
    std::string data_fingerprint;           ///< see data_fingerprint()
    std::string isa;                        ///< of the kernels: others round differently
    std::string version;                    ///< of causeway
};

/// As JSON text; numbers read back to the same bits.
std::string to_json(const CheckpointRecord& record);

/// Inverse of to_json. Throws IoError, naming `path` and the key, for what is missing or of a newer format.
CheckpointRecord parse_record(const std::string& json, const std::string& path);

}  // namespace causeway::train
