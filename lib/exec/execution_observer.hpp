#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/phase.hpp"
#include "plan/execution_plan.hpp"

namespace causeway {

using ExecutionClock = std::chrono::steady_clock;

/// Tiles of one step that a thread has run one after the other, from the beginning of the first to the end of the last.
struct TileRun {
    int thread = 0;         ///< ThreadPool::current_thread()
    std::int32_t step = 0;  ///< index into the plan's steps
    std::int64_t tiles = 0;
    ExecutionClock::time_point begin, end;
};

/// What one thread may note of a group: it comes to each of the pool's parts of the tiles twice at most, and to the
/// steps of a part in their order.
inline std::size_t most_tile_runs(const StepGroup& group, int threads) {
    return 2 * (static_cast<std::size_t>(group.step_count) + static_cast<std::size_t>(threads));
}

/// Told what an executor does while it does it, on the thread that runs the plan: what is learned must be put where
/// nothing is allocated or locked.
class ExecutionObserver {
  public:
    virtual ~ExecutionObserver() = default;
    virtual void run_begins(Phase, const RunArgs&) {}
    virtual void run_ends() {}
    virtual void group_begins(std::int32_t) {}
    virtual void group_ends(std::int32_t) {}
    /// After group_ends of the step's group, for each step and thread that ran some of its tiles: in the order in which
    /// the thread ran them, at most most_tile_runs() a group.
    virtual void tiles_ran(const TileRun&) {}
};

}  // namespace causeway
