#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "exec/execution_observer.hpp"

namespace causeway {

/// Which training steps a timeline covers: `count` steps after the first `skip`.
struct TimelineWindow {
    std::int64_t skip = 1;  ///< the first step touches memory and wakes threads for the first time
    std::int64_t count = 5;
    std::int64_t micro_batches = 1;  ///< runs of phase `step` in a training step
};

/// Records what ran when on which thread over some training steps of one plan, in memory reserved beforehand: nothing
/// is allocated or locked while the plan runs, and what is computed does not change. The tiles that a thread runs of a
/// step make one span.
class TimelineRecorder final : public ExecutionObserver {
  public:
    /// A stretch of time of a step's tiles or of a group.
    struct Span {
        std::int32_t index = 0;  ///< of the step or the group in the plan
        std::int64_t tiles = 0;
        std::int64_t group_run = 0;  ///< counts the group runs recorded, from 1
        ExecutionClock::time_point begin, end;
    };
    /// One run of a phase.
    struct Run {
        Phase phase = Phase::step;
        std::int64_t training_step = 0;
        ExecutionClock::time_point begin, end;
    };

    /// What a recorder of these will reserve.
    static std::size_t memory_bytes(const ExecutionPlan& plan, int threads, const TimelineWindow& window);

    /// Threads of the pool that the plan runs on. The plan must outlive the recorder. O(threads * window * steps)
    /// memory, 48 bytes a span.
    TimelineRecorder(const ExecutionPlan& plan, int threads, const TimelineWindow& window);

    void run_begins(Phase phase, const RunArgs& args) override;
    void run_ends() override;
    void group_begins(std::int32_t group) override;
    void group_ends(std::int32_t group) override;
    void tiles_ran(const TileRun& run) override;

    /// True when the last step of the window has begun; to be asked between two training steps.
    bool complete() const { return steps_begun_ >= window_.skip + window_.count; }

    const ExecutionPlan& plan() const { return plan_; }
    const TimelineWindow& window() const { return window_; }
    int threads() const { return static_cast<int>(tiles_.size()); }
    /// The number of the thread that ran the plan: runs and groups are its.
    int caller() const { return caller_; }
    /// In order of time.
    std::span<const Run> runs() const { return runs_; }
    std::span<const Span> groups() const { return groups_; }
    std::span<const Span> tiles(int thread) const { return tiles_[static_cast<std::size_t>(thread)]; }

  private:
    const ExecutionPlan& plan_;
    TimelineWindow window_;
    std::vector<Run> runs_;
    std::vector<Span> groups_;
    std::vector<std::vector<Span>> tiles_;  ///< by thread
    std::int64_t training_step_ = 0;
    std::int64_t steps_begun_ = 0;
    std::int64_t group_run_ = 0;
    int caller_ = 0;
    bool recording_ = false;
};

}  // namespace causeway
