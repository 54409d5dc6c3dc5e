#include "inspect/profile_table.hpp"

#include "causeway/error.hpp"
#include "inspect/machine.hpp"
#include "inspect/run_profile.hpp"
#include "inspect/tiny_runtime.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

ExecutionPlan hand_made_plan() {
    ExecutionPlan plan;
    const auto step = [](const char* op, double flops, double predicted) {
        Step made;
        made.op = op;
        made.flops = flops;
        made.bytes = 2 * flops;
        made.predicted_seconds = predicted;
        return made;
    };
    plan.steps = {step("a", 10, 3), step("b", 20, 1), step("a", 30, 1)};
    plan.groups = {{0, 2, 2, 4, false}, {2, 1, 1, 1, false}};
    return plan;
}

const ProfileRow& row_of(const std::vector<ProfileRow>& rows, std::string_view op) {
    for (const ProfileRow& row : rows) {
        if (row.op == op) return row;
    }
    throw Error("no row " + std::string(op));
}

}  // namespace

TEST_CASE("The profiler divides a group's time by the steps' predicted times", "[inspect]") {
    const ExecutionPlan plan = hand_made_plan();
    Profiler profiler(plan);
    CHECK(profiler.rows().empty());
    for (int run = 0; run < 2; ++run) {
        for (std::int32_t group : {0, 1}) {
            profiler.group_begins(group);
            profiler.group_ends(group);
        }
    }
    const std::vector<ProfileRow> rows = profiler.rows();
    REQUIRE(rows.size() == 2);
    const ProfileRow& a = row_of(rows, "a");
    const ProfileRow& b = row_of(rows, "b");
    CHECK(a.calls == 4);
    CHECK(a.flops == 80);
    CHECK(b.calls == 2);
    CHECK(b.bytes == 80);
    CHECK(a.seconds == Approx(0.75 * profiler.seconds(0) + profiler.seconds(1)));
    CHECK(b.seconds == Approx(0.25 * profiler.seconds(0)));
    CHECK(profiler.seconds() == Approx(a.seconds + b.seconds));
    CHECK(rows[0].seconds >= rows[1].seconds);
    CHECK(profiler.runs(1) == 2);
    profiler.reset();
    CHECK(profiler.rows().empty());
}

TEST_CASE("Where threads tell what their tiles took, a group's time is divided by that", "[inspect]") {
    const ExecutionPlan plan = hand_made_plan();
    Profiler profiler(plan);
    const auto ran = [&](int thread, std::int32_t step, int milliseconds) {
        const ExecutionClock::time_point begin{};
        profiler.tiles_ran({thread, step, 1, begin, begin + std::chrono::milliseconds(milliseconds)});
    };
    profiler.group_begins(0);
    profiler.group_ends(0);
    ran(0, 0, 1);
    ran(1, 0, 1);
    ran(1, 1, 6);
    const std::vector<ProfileRow> rows = profiler.rows();
    CHECK(row_of(rows, "a").busy_seconds == Approx(0.002));
    CHECK(row_of(rows, "b").busy_seconds == Approx(0.006));
    CHECK(row_of(rows, "a").seconds == Approx(0.25 * profiler.seconds(0)));
    CHECK(row_of(rows, "b").seconds == Approx(0.75 * profiler.seconds(0)));
}

TEST_CASE("A profiled run lists every op of its plan", "[inspect]") {
    TinyRuntime tiny(resolved(tiny_config()), 1);
    Executor& executor = tiny.runtime.executor("train");
    Profiler profiler(executor.plan());
    executor.observe(profiler);
    executor.run(Phase::step, {});
    executor.run(Phase::update, {});
    executor.stop_observing(profiler);
    executor.run(Phase::step, {});
    double flops = 0;
    for (const ProfileRow& row : profiler.rows()) {
        CHECK(row.seconds > 0);
        CHECK(row.busy_seconds > 0);
        CHECK(row.busy_seconds <= row.seconds * 1.0001);  // on one thread
        flops += row.flops;
    }
    CHECK(flops == Approx(executor.plan().flops(Phase::step) + executor.plan().flops(Phase::update)));
}

TEST_CASE("The profile as a table", "[inspect]") {
    const std::vector<ProfileRow> rows{{"linear", 4, 0.003, 0.006, 6e6, 3e6}, {"add", 2, 0.001, 0.001, 0, 1e6}};
    CHECK(profile_text(rows, {1e10, 5e9}) ==
          "op       calls     time  a call    share  threads  GFLOP/s  GB/s  % of peak  peak\n"
          "linear       4  3.00 ms  750 us   75.0 %     2.00      2.0   1.0       20.0  FLOP/s\n"
          "add          2  1.00 ms  500 us   25.0 %     1.00      0.0   1.0       20.0  memory\n"
          "all ops         4.00 ms          100.0 %     1.75      1.5   1.0       20.0  memory\n");
    CHECK_THAT(profile_text(rows, {}, 0.001), contains("linear                4  3.00 ms  750 us   60.0 %") &&
                                                  contains("outside the plan         1.00 ms           20.0 %\n") &&
                                                  contains("training steps           5.00 ms          100.0 %\n"));
    CHECK_THAT(profile_text({}), contains("all ops"));
}

TEST_CASE("The profile of a run counts its steps and what lies outside the plan", "[inspect]") {
    TinyRuntime tiny(resolved(tiny_config()), 2);
    RunProfile profile(tiny.runtime);
    for (int step = 0; step < 3; ++step) {
        tiny.train(step + 1);
        profile.add_step(10);
    }
    profile.add_evaluation(2);
    const std::string text = profile.text(40, MachinePeaks{});
    CHECK_THAT(text, contains("profile of 3 training steps on 2 threads: 30.0 s, 10.0 s each\n") &&
                         contains("unknown FLOP/s") && contains("adamw") && contains("pack_weight"));
    CHECK_THAT(text, contains("outside the plan") && contains("evaluation             2.00 s in 1 pass\n") &&
                         contains("metrics and progress   8.00 s\n"));
}

TEST_CASE("Peaks are measured and lie within reason", "[inspect]") {
    ThreadPool pool(2);
    const MachinePeaks peaks = measure_peaks(pool, 0.1);
    CHECK(peaks.threads == 2);
    REQUIRE(peaks.isas.size() + 1 == available_isas().size());
    for (const MachinePeaks::IsaPeak& peak : peaks.isas) {
        CHECK(peak.flops_per_second_one_core > 1e7);
        CHECK(peak.flops_per_second_one_core < 1e13);
        CHECK(peaks.flops_per_second(peak.isa, 1) == peak.flops_per_second_one_core);
        CHECK(peaks.flops_per_second(peak.isa, 2) == Approx(peak.flops_per_second_all_threads));
        CHECK(peaks.flops_per_second(peak.isa, 99) == Approx(peak.flops_per_second_all_threads));
    }
    CHECK(peaks.flops_per_second(Isa::reference, 1) == 0);
    CHECK(peaks.l2_bytes_per_second > 1e6);
    CHECK(peaks.dram_bytes_per_second_one_core > 1e6);
    CHECK(peaks.dram_bytes_per_second_all_threads > 1e6);
    CHECK_THAT(peaks_text(peaks), contains("read, memory") && contains("GFLOP/s on one core"));
    ThreadPool alone(1);
    CHECK(measure_flop_peak(alone, available_isas().back(), 0.01) > 1e7);
}
