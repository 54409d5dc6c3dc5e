#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "support/under_sanitizer.hpp"
#include "train/run_checkpoints.hpp"
#include "train/train_support.hpp"

namespace causeway::train {

/// Peak resident memory of this process in KiB, since reset_peak.
inline std::int64_t peak_kib() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6));
    }
    return 0;
}

/// False where the system cannot.
inline bool reset_peak() { return static_cast<bool>(std::ofstream("/proc/self/clear_refs") << "5" << std::flush); }

/// So many evaluations, a step and a checkpoint after every fifth: from the first quarter on memory must not grow.
inline void check_flat_memory(int evaluations) {
    const TemporaryFolder folder;
    Trainer trainer(small_gpt2({"train.keep_checkpoints=1", "train.max_steps=1000", "runtime.threads=1"}));
    RunCheckpoints checkpoints({folder.file("run")}, trainer);
    std::int64_t warm = 0;
    for (int i = 0; i < evaluations; ++i) {
        const double loss = trainer.evaluate().loss;
        if (i % 5 == 0) {
            trainer.step();
            checkpoints.evaluated(trainer.steps_done(), loss);
            checkpoints.save("");
        }
        if (i == evaluations / 4) {
            reset_peak();
            warm = peak_kib();
        }
    }
    CHECK(trainer.steps_done() == evaluations / 5);
    CHECK(warm > 0);
    if (!under_sanitizer) CHECK(peak_kib() - warm < 512);
}

}  // namespace causeway::train
