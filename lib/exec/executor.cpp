#include "exec/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

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
    pool_.run([&] {
        for (ExecutionObserver* observer : observers_) observer->run_begins(phase, args);
        for (std::int32_t g = range.first_group; g < range.first_group + range.group_count; ++g) {
            for (ExecutionObserver* observer : observers_) observer->group_begins(g);
            run_group(g);
            for (ExecutionObserver* observer : observers_) observer->group_ends(g);
            if (!plan_.memory_reuse) poison_dead(g);
        }
        for (ExecutionObserver* observer : observers_) observer->run_ends();
    });
}

void Executor::observe(ExecutionObserver& observer) {
    open_.resize(static_cast<std::size_t>(pool_.threads()));
    observers_.push_back(&observer);
}

void Executor::run_group(std::int32_t index) {
    const StepGroup& group = plan_.groups[static_cast<std::size_t>(index)];
    auto tiles = [&](std::int64_t begin, std::int64_t end) { run_tiles(group, begin, end); };
    auto finished = [&] { end_tile_run(ExecutionClock::now()); };
    const Callback callback(finished);
    if (group.parallel) {
        pool_.parallel(group.tiles, TileWork(tiles), observers_.empty() ? nullptr : &callback);
    } else {
        tiles(0, group.tiles);
        if (!observers_.empty()) finished();
    }
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

/// A thread that takes tiles of one step again and again reads the clock when it comes to another step only.
void Executor::run_observed(std::int32_t index, std::int64_t begin, std::int64_t end) {
    const int thread = ThreadPool::current_thread();
    TileRun& open = open_[static_cast<std::size_t>(thread)].run;
    if (open.tiles == 0 || open.step != index) {
        const auto now = ExecutionClock::now();
        end_tile_run(now);
        open = {thread, index, 0, now, {}};
    }
    open.tiles += end - begin;
    plan_.steps[static_cast<std::size_t>(index)].run(context_, begin, end);
}

/// Tells what this thread has run, if anything.
void Executor::end_tile_run(ExecutionClock::time_point end) {
    TileRun& open = open_[static_cast<std::size_t>(ThreadPool::current_thread())].run;
    if (open.tiles == 0) return;
    open.end = end;
    for (ExecutionObserver* observer : observers_) observer->tiles_ran(open);
    open.tiles = 0;
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
