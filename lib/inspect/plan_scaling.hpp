#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/execution_plan.hpp"

namespace causeway {

/// How one step group would fare on a number of cores, in all its runs together.
struct GroupScaling {
    std::int32_t group = 0;
    double work_seconds = 0;  ///< on one core
    double seconds = 0;       ///< on that many
    double lost_seconds = 0;  ///< beyond work / cores
    /// Of these, what it takes to hand the group to threads; the rest is waiting for tiles.
    double sharing_seconds = 0;
};

/// How a part of a plan would fare on a number of cores.
struct CoreScaling {
    int cores = 1;
    double seconds = 0;
    double speed_up = 1;               ///< over one core
    std::vector<GroupScaling> groups;  ///< most lost time first
};

/// A phase of a plan, or a whole training step.
struct PartScaling {
    std::string part;         ///< "training step" or the name of the phase
    double work_seconds = 0;  ///< of all tiles: the time on one core
    double span_seconds = 0;  ///< serial groups and the longest tile of each parallel one: no number of cores beats it
    double serial_seconds = 0;  ///< of groups that one thread runs
    std::vector<CoreScaling> cores;
};

/// Predicts, from the plan's own costs alone, the time of each of its phases (and, of a training plan, of a training
/// step with that many micro-batches) for each number of cores (at least 1). Tiles of a step are taken as equally long,
/// whoever is free takes the next (the executor gives each thread a part of its own first and lets it take from others
/// afterwards, which comes to about the same), and the cores do not slow each other down: memory keeps up with all of
/// them. Sharing a group among n threads counts 0.4 us + 0.1 us * (n - 1). The plan's costs are guesses,
/// whose ratios say more than their sums. O(tiles * log cores) for each number.
std::vector<PartScaling> predict_scaling(const ExecutionPlan& plan, std::span<const int> cores,
                                         std::int64_t micro_batches = 1);

/// A table a part: cores, time, speed-up, efficiency, the group that loses the most time and what share it loses; then
/// the groups that lose the most on the last number of cores, those of all layers as one.
std::string scaling_text(const ExecutionPlan& plan, const std::vector<PartScaling>& parts);

/// A group as a line: the step in it with the most work, and how many others.
std::string group_label(const ExecutionPlan& plan, std::int32_t group);

}  // namespace causeway
