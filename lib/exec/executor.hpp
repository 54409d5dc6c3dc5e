#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/phase.hpp"
#include "exec/arena.hpp"
#include "exec/execution_observer.hpp"
#include "exec/thread_pool.hpp"
#include "plan/execution_plan.hpp"

namespace causeway {

/// Runs the phases of one plan in an arena. Several executors may share an arena and a pool, one running at a time.
/// Nothing is allocated, locked or formatted while a phase runs; the result does not depend on the number of threads.
class Executor {
  public:
    /// The plan, arena and pool must outlive the executor. Throws CapacityError when the arena is too small.
    Executor(const ExecutionPlan& plan, Arena& arena, ThreadPool& pool);

    void run(Phase phase, const RunArgs& args);

    /// The elements of a value. Activations of a plan with memory reuse hold it only between their producer and their
    /// last reader; parameters, state, inputs and results are always there. Throws GraphError for an unknown name.
    template <class T>
    std::span<T> values(std::string_view name) {
        return values<T>(plan_.index_of(name));
    }
    template <class T>
    std::span<T> values(std::int32_t index) {
        const TensorView view = this->view(index);
        return {view.as<T>(), static_cast<std::size_t>(view.desc.stored_elements)};
    }
    TensorView view(std::int32_t index) const;

    const ExecutionPlan& plan() const { return plan_; }
    /// From the next run on, until stop_observing. The observer must outlive that. Costs a reading of the clock each
    /// time a thread takes tiles.
    void observe(ExecutionObserver& observer);
    void stop_observing(ExecutionObserver& observer) { std::erase(observers_, &observer); }

  private:
    /// What a thread has run of the present group; apart from the other threads' cache lines.
    struct alignas(128) ThreadRuns {
        std::vector<TileRun> runs;
    };

    void run_group(std::int32_t index);
    void run_tiles(const StepGroup& group, std::int64_t begin, std::int64_t end);
    void run_observed(std::int32_t step, std::int64_t begin, std::int64_t end);
    void tell_group_ends(std::int32_t group);
    void poison_dead(std::int32_t group);

    const ExecutionPlan& plan_;
    ThreadPool& pool_;
    RunContext context_;
    std::vector<ExecutionObserver*> observers_;
    std::vector<ThreadRuns> ran_;  ///< by thread; made when the first observer comes
};

}  // namespace causeway
