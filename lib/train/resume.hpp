#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/run_checkpoints.hpp"

namespace causeway::train {

/// How a trainer came to go on from a checkpoint.
struct Resumed {
    std::int64_t step = 0;              ///< steps done
    std::string checkpoint;             ///< the folder
    std::vector<std::string> warnings;  ///< damaged checkpoints that were passed over
    std::vector<std::string> notes;     ///< changed fields, and what makes results differ in rounding
};

/// Puts a trainer, made from a config that may differ from the run's by resume_changes(), where the run's newest good
/// checkpoint stands. Throws ConfigError for a field that may not differ, DataError when the data is another, IoError
/// for the checkpoint; the trainer is then as before. `found` must have a checkpoint.
Resumed resume(Trainer& trainer, const FoundCheckpoint& found);

}  // namespace causeway::train
