#include "exec/timeline_recorder.hpp"

#include <algorithm>
#include <vector>

#include "exec/small_model.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

/// A training step of two micro-batches.
void train(Executor& executor, std::int64_t number) {
    RunArgs args;
    args.step = number;
    executor.run(Phase::step, args);
    args.accumulate = true;
    executor.run(Phase::step, args);
    args.step = 1;  // the update counts for itself
    executor.run(Phase::update, args);
    executor.run(Phase::pack, args);
}

}  // namespace

TEST_CASE("A timeline covers its window of training steps, every tile of it once") {
    for (int threads : {1, 3}) {
        ModelRuntime runtime = small_model(threads);
        Executor& executor = runtime.executor("train");
        const ExecutionPlan& plan = executor.plan();
        TimelineRecorder recorder(plan, threads, {1, 2, 2});
        executor.observe(recorder);
        CHECK(!recorder.complete());
        for (std::int64_t step = 5; step < 10; ++step) {
            train(executor, step);
            CHECK(recorder.complete() == (step >= 7));
        }
        // Two training steps of two runs of step, an update and a pack.
        REQUIRE(recorder.runs().size() == 8);
        CHECK(recorder.runs().front().training_step == 6);
        CHECK(recorder.runs().back().training_step == 7);
        CHECK(recorder.runs().back().phase == Phase::pack);
        std::vector<std::int64_t> expected(plan.steps.size()), found(plan.steps.size());
        std::size_t groups = 0;
        for (const TimelineRecorder::Run& run : recorder.runs()) {
            CHECK(run.begin <= run.end);
            const PhaseRange& range = plan.range(run.phase);
            groups += static_cast<std::size_t>(range.group_count);
            for (std::int32_t g = range.first_group; g < range.first_group + range.group_count; ++g) {
                const StepGroup& group = plan.groups[static_cast<std::size_t>(g)];
                for (std::int32_t s = group.first_step; s < group.first_step + group.step_count; ++s) {
                    const auto at = static_cast<std::size_t>(s);
                    expected[at] += plan.steps[at].tiles;
                }
            }
        }
        CHECK(recorder.groups().size() == groups);
        CHECK(recorder.threads() == threads);
        for (int thread = 0; thread < threads; ++thread) {
            for (const TimelineRecorder::Span& span : recorder.tiles(thread)) {
                found[static_cast<std::size_t>(span.index)] += span.tiles;
                const TimelineRecorder::Span& group = recorder.groups()[static_cast<std::size_t>(span.group_run - 1)];
                REQUIRE(group.begin <= span.begin);
                REQUIRE(span.begin <= span.end);
                REQUIRE(span.end <= group.end);
            }
        }
        CHECK(found == expected);
    }
}

TEST_CASE("A timeline that ends before its window, or begins with its first step, has what there was") {
    ModelRuntime runtime = small_model(1);
    Executor& executor = runtime.executor("train");
    TimelineRecorder late(executor.plan(), 1, {1, 5, 2}), early(executor.plan(), 1, {0, 1, 2});
    executor.observe(late);
    executor.observe(early);
    train(executor, 1);
    CHECK(late.runs().empty());
    CHECK(early.runs().size() == 4);
    CHECK(early.complete());
    train(executor, 2);
    CHECK(late.runs().size() == 4);
    CHECK(!late.complete());
    CHECK(early.runs().size() == 4);
}

TEST_CASE(
    "A timeline given fewer micro-batches than there are stops, and allocates nothing, when its room is used up") {
    ModelRuntime runtime = small_model(1);
    Executor& executor = runtime.executor("train");
    TimelineRecorder recorder(executor.plan(), 1, {0, 1, 1});
    executor.observe(recorder);
    const auto* room = recorder.groups().data();
    train(executor, 1);
    CHECK(recorder.groups().data() == room);
    const auto bytes = [&](const TimelineWindow& window) {
        return TimelineRecorder::memory_bytes(executor.plan(), 2, window);
    };
    CHECK(bytes({0, 1, 1}) > 2 * executor.plan().steps.size() * sizeof(TimelineRecorder::Span));
    CHECK(bytes({0, 10, 3}) == 10 * bytes({0, 1, 3}));
    CHECK(bytes({0, 0, 1}) == 0);
    CHECK(recorder.groups().size() == executor.plan().groups.size());
}
