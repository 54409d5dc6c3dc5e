#include "inspect/plan_scaling.hpp"

#include <algorithm>
#include <functional>
#include <queue>

namespace causeway {
namespace {

/// What it takes to hand a group to threads that wait for it and to learn that it is done: up to half a microsecond on
/// two, and each more has a part of the tiles that the others look at.
double handover_seconds(int threads) { return threads > 1 ? 0.4e-6 + 0.1e-6 * (threads - 1) : 0; }

std::span<const Step> steps_of(const ExecutionPlan& plan, const StepGroup& group) {
    return std::span(plan.steps)
        .subspan(static_cast<std::size_t>(group.first_step), static_cast<std::size_t>(group.step_count));
}

double tile_seconds(const Step& step) { return step.predicted_seconds / static_cast<double>(step.tiles); }

int threads_of(const StepGroup& group, int cores) {
    return group.parallel ? static_cast<int>(std::min<std::int64_t>(cores, group.tiles)) : 1;
}

/// Whoever is free takes the next tile.
double group_seconds(const ExecutionPlan& plan, const StepGroup& group, int cores) {
    const int threads = threads_of(group, cores);
    if (threads <= 1) return group.predicted_seconds;
    std::priority_queue<double, std::vector<double>, std::greater<>> free_at;
    for (int thread = 0; thread < threads; ++thread) free_at.push(0);
    double end = 0;
    for (const Step& step : steps_of(plan, group)) {
        for (std::int64_t tile = 0; tile < step.tiles; ++tile) {
            const double done = free_at.top() + tile_seconds(step);
            free_at.pop();
            free_at.push(done);
            end = std::max(end, done);
        }
    }
    return end + handover_seconds(threads);
}

double span_seconds(const ExecutionPlan& plan, const StepGroup& group) {
    if (!group.parallel) return group.predicted_seconds;
    double longest = 0;
    for (const Step& step : steps_of(plan, group)) longest = std::max(longest, tile_seconds(step));
    return longest;
}

/// Adds the groups of a phase to a part that runs it so many times.
void add_phase(const ExecutionPlan& plan, Phase phase, double times, PartScaling& part) {
    const PhaseRange& range = plan.range(phase);
    for (std::int32_t g = range.first_group; g < range.first_group + range.group_count; ++g) {
        const StepGroup& group = plan.groups[static_cast<std::size_t>(g)];
        const double work = times * group.predicted_seconds;
        part.work_seconds += work;
        part.span_seconds += times * span_seconds(plan, group);
        if (!group.parallel) part.serial_seconds += work;
        for (CoreScaling& on : part.cores) {
            const double seconds = times * group_seconds(plan, group, on.cores);
            on.seconds += seconds;
            const double sharing = times * handover_seconds(threads_of(group, on.cores));
            on.groups.push_back({g, work, seconds, std::max(0.0, seconds - work / on.cores), sharing});
        }
    }
}

PartScaling empty_part(std::string name, std::span<const int> cores) {
    PartScaling part;
    part.part = std::move(name);
    for (const int count : cores) part.cores.push_back({count, 0, 1, {}});
    return part;
}

void finish(PartScaling& part) {
    for (CoreScaling& on : part.cores) {
        on.speed_up = on.seconds > 0 ? part.work_seconds / on.seconds : 1;
        std::ranges::stable_sort(on.groups, std::greater<>(), &GroupScaling::lost_seconds);
    }
}

}  // namespace

std::vector<PartScaling> predict_scaling(const ExecutionPlan& plan, std::span<const int> cores,
                                         std::int64_t micro_batches) {
    std::vector<PartScaling> parts;
    if (plan.range(Phase::update).group_count > 0) {
        parts.push_back(empty_part("training step", cores));
        add_phase(plan, Phase::step, static_cast<double>(micro_batches), parts.back());
        add_phase(plan, Phase::update, 1, parts.back());
    }
    for (const Phase phase : {Phase::step, Phase::update, Phase::pack}) {
        if (plan.range(phase).group_count == 0) continue;
        parts.push_back(empty_part(std::string(to_string(phase)), cores));
        add_phase(plan, phase, 1, parts.back());
    }
    for (PartScaling& part : parts) finish(part);
    return parts;
}

}  // namespace causeway
