#include "exec/profiler.hpp"

#include <algorithm>
#include <map>

namespace causeway {

Profiler::Profiler(const ExecutionPlan& plan) : plan_(plan), totals_(plan.groups.size()) {}

void Profiler::group_begins(std::int32_t) { begin_ = Clock::now(); }

void Profiler::group_ends(std::int32_t group) {
    Total& total = totals_[static_cast<std::size_t>(group)];
    total.seconds += std::chrono::duration<double>(Clock::now() - begin_).count();
    ++total.runs;
}

void Profiler::reset() { std::ranges::fill(totals_, Total{}); }

std::vector<ProfileRow> Profiler::rows() const {
    std::map<std::string, ProfileRow> by_op;
    double all_seconds = 0;
    for (std::size_t g = 0; g < totals_.size(); ++g) {
        const StepGroup& group = plan_.groups[g];
        const Total& total = totals_[g];
        const double runs = static_cast<double>(total.runs);
        for (std::int32_t s = group.first_step; s < group.first_step + group.step_count; ++s) {
            const Step& step = plan_.steps[static_cast<std::size_t>(s)];
            const double part = group.predicted_seconds > 0 ? step.predicted_seconds / group.predicted_seconds
                                                            : 1.0 / static_cast<double>(group.step_count);
            ProfileRow& row = by_op[step.op];
            row.op = step.op;
            row.calls += total.runs;
            row.seconds += part * total.seconds;
            row.flops += runs * step.flops;
            row.bytes += runs * step.bytes;
        }
        all_seconds += total.seconds;
    }
    std::vector<ProfileRow> rows;
    for (auto& [op, row] : by_op) {
        if (row.calls == 0) continue;
        row.share = all_seconds > 0 ? row.seconds / all_seconds : 0;
        rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(rows, [](const ProfileRow& a, const ProfileRow& b) { return a.seconds > b.seconds; });
    return rows;
}

}  // namespace causeway
