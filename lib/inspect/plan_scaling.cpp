#include "inspect/plan_scaling.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

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

/// How many tiles of that length the first `count` threads take before one of them would begin at the last one's time.
double tiles_to_level(std::span<const double> free_at, std::size_t count, double tile) {
    double tiles = 0;
    for (const double time : free_at.first(count)) tiles += std::ceil((free_at[count - 1] - time) / tile);
    return tiles;
}

/// Whoever is free takes the next of a step's equal tiles, so that the tiles begin at the earliest of all times
/// free_at[j] + k * tile. Which threads take part, and how many whole rounds, follows without a walk over the tiles.
void take_tiles(std::vector<double>& free_at, double tiles, double tile) {
    if (tile <= 0) return;
    std::ranges::sort(free_at);
    // Those that are free before the step is used up: all that could be brought level with the last of them.
    std::size_t taking = 1;
    for (std::size_t above = free_at.size() + 1; above - taking > 1;) {
        const std::size_t middle = taking + (above - taking) / 2;
        (tiles_to_level(free_at, middle, tile) <= tiles ? taking : above) = middle;
    }
    tiles -= tiles_to_level(free_at, taking, tile);
    const double level = free_at[taking - 1];
    const double rounds = std::floor(tiles / static_cast<double>(taking));
    const auto rest = static_cast<std::size_t>(tiles - rounds * static_cast<double>(taking));
    const std::span<double> threads = std::span(free_at).first(taking);
    for (double& time : threads) time += (std::ceil((level - time) / tile) + rounds) * tile;
    // All are free within one tile's time now: the earliest take one more each.
    std::ranges::sort(threads);
    for (double& time : threads.first(rest)) time += tile;
}

double group_seconds(const ExecutionPlan& plan, const StepGroup& group, int cores) {
    const int threads = threads_of(group, cores);
    if (threads <= 1) return group.predicted_seconds;
    std::vector<double> free_at(static_cast<std::size_t>(threads), 0.0);
    for (const Step& step : steps_of(plan, group)) {
        take_tiles(free_at, static_cast<double>(step.tiles), tile_seconds(step));
    }
    return *std::ranges::max_element(free_at) + handover_seconds(threads);
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
