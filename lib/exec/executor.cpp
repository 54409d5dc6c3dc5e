#include "exec/executor.hpp"

#include <algorithm>
#include <cstring>

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {

Executor::Executor(const ExecutionPlan& plan, Arena& arena, ThreadPool& pool) : plan_(plan), pool_(pool) {
    for (std::size_t r = 0; r < region_count; ++r) {
        const auto region = static_cast<Region>(r);
        if (arena.bytes(region) < static_cast<std::size_t>(plan.memory.region_bytes[r])) {
            throw CapacityError(fmt::format("plan '{}' needs {} bytes in region {}, the arena has {}", plan.mode,
                                            plan.memory.region_bytes[r], r, arena.bytes(region)));
        }
        context_.bases[r] = arena.base(region);
    }
}

void Executor::run(Phase phase, const RunArgs& args) {
    context_.args = args;
    const PhaseRange& range = plan_.range(phase);
    auto run_groups = [&] {
        for (ExecutionObserver* observer : observers_) observer->run_begins(phase, args);
        for (std::int32_t g = range.first_group; g < range.first_group + range.group_count; ++g) {
            for (ExecutionObserver* observer : observers_) observer->group_begins(g);
            run_group(g);
            if (!observers_.empty()) tell_group_ends(g);
            if (!plan_.memory_reuse) poison_dead(g);
        }
        for (ExecutionObserver* observer : observers_) observer->run_ends();
    };
    pool_.run(run_groups, range.parallel);
}

void Executor::observe(ExecutionObserver& observer) {
    std::size_t most_runs = 0;
    for (const StepGroup& group : plan_.groups) most_runs = std::max(most_runs, most_tile_runs(group, pool_.threads()));
    ran_.resize(static_cast<std::size_t>(pool_.threads()));
    for (ThreadRuns& thread : ran_) thread.runs.reserve(most_runs);
    observers_.push_back(&observer);
}

void Executor::run_group(std::int32_t index) {
    const StepGroup& group = plan_.groups[static_cast<std::size_t>(index)];
    if (!group.parallel) {
        run_tiles(group, 0, group.tiles);
        return;
    }
    auto tiles = [&](std::int64_t begin, std::int64_t end) { run_tiles(group, begin, end); };
    pool_.parallel(group.tiles, TileWork(tiles));
}

/// Tiles of a group are numbered through its steps.
void Executor::run_tiles(const StepGroup& group, std::int64_t begin, std::int64_t end) {
    std::int64_t first = 0;  // of the step
    for (std::int32_t s = group.first_step; s < group.first_step + group.step_count && first < end; ++s) {
        const Step& step = plan_.steps[static_cast<std::size_t>(s)];
        const std::int64_t from = std::max(begin, first), to = std::min(end, first + step.tiles);
        if (from < to) {
            if (observers_.empty()) {
                step.run(context_, from - first, to - first);
            } else {
                run_observed(s, from - first, to - first);
            }
        }
        first += step.tiles;
    }
}

/// Runs tiles of a step and notes it where only this thread writes until the group has ended.
void Executor::run_observed(std::int32_t index, std::int64_t begin, std::int64_t end) {
    const int thread = ThreadPool::current_thread();
    std::vector<TileRun>& runs = ran_[static_cast<std::size_t>(thread)].runs;
    if (runs.empty() || runs.back().step != index) {
        const auto now = runs.empty() ? ExecutionClock::now() : runs.back().end;
        runs.push_back({thread, index, 0, now, now});
    }
    plan_.steps[static_cast<std::size_t>(index)].run(context_, begin, end);
    runs.back().tiles += end - begin;
    runs.back().end = ExecutionClock::now();
}

void Executor::tell_group_ends(std::int32_t group) {
    for (ExecutionObserver* observer : observers_) observer->group_ends(group);
    for (ThreadRuns& thread : ran_) {
        for (const TileRun& run : thread.runs) {
            for (ExecutionObserver* observer : observers_) observer->tiles_ran(run);
        }
        thread.runs.clear();
    }
}

/// Without memory reuse, what is dead becomes NaN: a read after death shows.
void Executor::poison_dead(std::int32_t group) {
    const auto poison = [&](BufferRef place, std::int64_t bytes) {
        std::memset(context_.at<std::byte>(place), 0xFF, static_cast<std::size_t>(bytes));
    };
    for (const PlannedValue& value : plan_.values) {
        if (value.last_group == group && !value.kept) poison(value.place, value.desc.bytes());
    }
    for (const PlannedNode& node : plan_.nodes) {
        if (node.last_group == group && node.workspace_bytes > 0) poison(node.workspace, node.workspace_bytes);
    }
}

TensorView Executor::view(std::int32_t index) const {
    const PlannedValue& value = plan_.values[static_cast<std::size_t>(index)];
    return {context_.at<std::byte>(value.place), value.desc};
}

}  // namespace causeway
