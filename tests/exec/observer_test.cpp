#include "exec/execution_observer.hpp"

#include <vector>

#include "exec/small_model.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

/// Counts what it is told, and holds it against what an observer is promised.
class Counter final : public ExecutionObserver {
  public:
    Counter(const ExecutionPlan& plan, int threads) : plan_(plan), threads_(threads), tiles_(plan.steps.size()) {}

    void run_begins(Phase, const RunArgs& args) override {
        ++runs;
        in_order &= group_ == -1 && args.step == 7;
    }
    void run_ends() override { in_order &= group_ == -1; }
    void group_begins(std::int32_t group) override {
        in_order &= group_ == -1;
        group_ = group;
    }
    void group_ends(std::int32_t group) override {
        in_order &= group_ == group;
        ended_ = group_;
        group_ = -1;
        ++groups;
    }
    void tiles_ran(const TileRun& run) override {
        const StepGroup& group = plan_.groups[static_cast<std::size_t>(ended_)];
        const bool of_group = run.step >= group.first_step && run.step < group.first_step + group.step_count;
        const bool known = run.thread >= 0 && run.thread < threads_;
        if (!of_group || !known || run.begin > run.end) strange = true;
        tiles_[static_cast<std::size_t>(run.step)] += run.tiles;
    }

    bool every_tile_told_times(std::int64_t times) const {
        for (std::size_t s = 0; s < tiles_.size(); ++s) {
            if (tiles_[s] != times * plan_.steps[s].tiles) return false;
        }
        return true;
    }

    int runs = 0, groups = 0;
    bool in_order = true;
    bool strange = false;

  private:
    const ExecutionPlan& plan_;
    int threads_;
    std::vector<std::int64_t> tiles_;  ///< by step
    std::int32_t group_ = -1, ended_ = -1;
};

}  // namespace

TEST_CASE("Observers are told every run, group and tile, on any number of threads") {
    for (int threads : {1, 2, 3}) {
        ModelRuntime runtime = small_model(threads);
        Executor& executor = runtime.executor("train");
        Counter first(executor.plan(), threads), second(executor.plan(), threads);
        RunArgs args;
        args.step = 7;
        const auto training_step = [&] {
            for (const Phase phase : {Phase::step, Phase::update, Phase::pack}) executor.run(phase, args);
        };
        executor.observe(first);
        training_step();
        executor.observe(second);
        training_step();
        executor.stop_observing(first);
        training_step();
        executor.stop_observing(second);
        training_step();
        for (const Counter* counter : {&first, &second}) {
            CHECK(counter->runs == 6);
            CHECK(counter->groups == 2 * static_cast<int>(executor.plan().groups.size()));
            CHECK(counter->in_order);
            CHECK(!counter->strange);
            CHECK(counter->every_tile_told_times(2));
        }
    }
}
