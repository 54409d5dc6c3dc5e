#include "exec/profiler.hpp"

#include <algorithm>
#include <map>

namespace causeway {
namespace {

double seconds_between(ExecutionClock::time_point begin, ExecutionClock::time_point end) {
    return std::chrono::duration<double>(end - begin).count();
}

}  // namespace

Profiler::Profiler(const ExecutionPlan& plan) : plan_(plan), totals_(plan.groups.size()), busy_(plan.steps.size()) {}

void Profiler::group_begins(std::int32_t) { begin_ = ExecutionClock::now(); }

void Profiler::group_ends(std::int32_t group) {
    Total& total = totals_[static_cast<std::size_t>(group)];
    total.seconds += seconds_between(begin_, ExecutionClock::now());
    ++total.runs;
}

void Profiler::tiles_ran(const TileRun& run) {
    busy_[static_cast<std::size_t>(run.step)] += seconds_between(run.begin, run.end);
}

void Profiler::reset() {
    std::ranges::fill(totals_, Total{});
    std::ranges::fill(busy_, 0.0);
}

double Profiler::seconds() const {
    double sum = 0;
    for (const Total& total : totals_) sum += total.seconds;
    return sum;
}

std::vector<ProfileRow> Profiler::rows() const {
    const auto busy = [&](std::int32_t step) { return busy_[static_cast<std::size_t>(step)]; };
    std::map<std::string, ProfileRow> by_op;
    for (std::size_t g = 0; g < totals_.size(); ++g) {
        const StepGroup& group = plan_.groups[g];
        const Total& total = totals_[g];
        const double runs = static_cast<double>(total.runs);
        double group_busy = 0;
        for (std::int32_t s = group.first_step; s < group.first_step + group.step_count; ++s) group_busy += busy(s);
        for (std::int32_t s = group.first_step; s < group.first_step + group.step_count; ++s) {
            const Step& step = plan_.steps[static_cast<std::size_t>(s)];
            double part = 1.0 / static_cast<double>(group.step_count);
            if (group_busy > 0) {
                part = busy(s) / group_busy;
            } else if (group.predicted_seconds > 0) {
                part = step.predicted_seconds / group.predicted_seconds;
            }
            ProfileRow& row = by_op[step.op];
            row.op = step.op;
            row.calls += total.runs;
            row.seconds += part * total.seconds;
            row.busy_seconds += busy(s);
            row.flops += runs * step.flops;
            row.bytes += runs * step.bytes;
        }
    }
    std::vector<ProfileRow> rows;
    for (auto& [op, row] : by_op) {
        if (row.calls > 0) rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(rows, [](const ProfileRow& a, const ProfileRow& b) { return a.seconds > b.seconds; });
    return rows;
}

}  // namespace causeway
