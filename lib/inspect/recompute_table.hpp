#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.hpp"

namespace causeway {

/// What a training step costs with one choice of train.recompute.
struct RecomputeCost {
    std::string choice;                 ///< none, attention_free, block
    bool chosen = false;                ///< the config's own
    std::int64_t scratch_bytes = 0;     ///< peak
    std::int64_t total_bytes = 0;       ///< with parameters and optimizer state
    double flops_step = 0;              ///< of forward and backward over one batch
    double predicted_seconds_step = 0;  ///< on one core
};

/// The choices in the order of the config's field, each from a plan compiled for it: a few milliseconds each, nothing
/// is reserved. Throws what compile() throws.
std::vector<RecomputeCost> recompute_costs(const Config& config);

/// A table of them, one line a choice, with FLOPs as a multiple of those without recomputation; a star marks the
/// config's own.
std::string recompute_text(const std::vector<RecomputeCost>& costs);

}  // namespace causeway
