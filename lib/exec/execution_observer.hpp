#pragma once

#include <chrono>
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

/// Told what an executor does while it does it, on the thread that runs the plan: what is learned must be put where
/// nothing is allocated or locked.
class ExecutionObserver {
  public:
    virtual ~ExecutionObserver() = default;
    virtual void run_begins(Phase, const RunArgs&) {}
    virtual void run_ends() {}
    virtual void group_begins(std::int32_t) {}
    virtual void group_ends(std::int32_t) {}
    /// After group_ends of the step's group: once for each step and thread that ran some of its tiles.
    virtual void tiles_ran(const TileRun&) {}
};

}  // namespace causeway
