#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "train/trainer.hpp"

namespace causeway::cli {

/// What training takes, and what of it goes to watching, of what there is. Bytes.
struct MemoryUse {
    std::size_t total = 0, watching = 0, available = 0;
};

/// "3 steps", "1 step"
std::string plural(std::int64_t count, const char* noun);

/// What is printed before the first step: `what` is trained, the model, its data, the machine, the run.
std::string start_text(const std::string& what, train::Trainer& trainer, const MemoryUse& memory, double peak,
                       const std::string& folder);

/// What is printed after the last step.
std::string summary_text(const train::RunResult& result, std::int64_t steps, const std::string& folder);

}  // namespace causeway::cli
