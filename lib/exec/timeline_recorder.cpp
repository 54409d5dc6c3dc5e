#include "exec/timeline_recorder.hpp"

#include "exec/thread_pool.hpp"

namespace causeway {
namespace {

/// Reserves room for that many, with every page of it touched.
template <class T>
void reserve(std::vector<T>& items, std::size_t count) {
    items.resize(count);
    items.clear();
}

/// Appends unless the room is used up, so that nothing is ever allocated.
template <class T>
bool append(std::vector<T>& items, const T& item) {
    if (items.size() == items.capacity()) return false;
    items.push_back(item);
    return true;
}

/// Entries that a window takes at most: of runs, of groups, and of each thread's tiles.
struct Room {
    std::size_t runs = 0, groups = 0, tile_runs = 0;
};

Room room_for(const ExecutionPlan& plan, int threads, const TimelineWindow& window) {
    Room room;
    for (const Phase phase : all_phases) {
        const PhaseRange& range = plan.range(phase);
        const auto times = static_cast<std::size_t>(window.count * (phase == Phase::step ? window.micro_batches : 1));
        room.runs += times;
        room.groups += times * static_cast<std::size_t>(range.group_count);
        for (std::int32_t g = range.first_group; g < range.first_group + range.group_count; ++g) {
            room.tile_runs += times * most_tile_runs(plan.groups[static_cast<std::size_t>(g)], threads);
        }
    }
    return room;
}

}  // namespace

std::size_t TimelineRecorder::memory_bytes(const ExecutionPlan& plan, int threads, const TimelineWindow& window) {
    const Room room = room_for(plan, threads, window);
    return room.runs * sizeof(Run) + (room.groups + room.tile_runs * static_cast<std::size_t>(threads)) * sizeof(Span);
}

TimelineRecorder::TimelineRecorder(const ExecutionPlan& plan, int threads, const TimelineWindow& window)
    : plan_(plan), window_(window), tiles_(static_cast<std::size_t>(threads)) {
    const Room room = room_for(plan, threads, window);
    reserve(runs_, room.runs);
    reserve(groups_, room.groups);
    for (std::vector<Span>& spans : tiles_) reserve(spans, room.tile_runs);
}

void TimelineRecorder::run_begins(Phase phase, const RunArgs& args) {
    // Micro-batches of a training step share its number; its update follows them.
    if (phase == Phase::step && (steps_begun_ == 0 || args.step != training_step_)) {
        training_step_ = args.step;
        ++steps_begun_;
        recording_ = steps_begun_ > window_.skip && steps_begun_ <= window_.skip + window_.count;
    }
    if (!recording_) return;
    caller_ = ThreadPool::current_thread();
    const auto now = ExecutionClock::now();
    recording_ = append(runs_, {phase, training_step_, now, now});
}

void TimelineRecorder::run_ends() {
    if (recording_) runs_.back().end = ExecutionClock::now();
}

void TimelineRecorder::group_begins(std::int32_t group) {
    if (!recording_) return;
    ++group_run_;
    const std::int64_t tiles = plan_.groups[static_cast<std::size_t>(group)].tiles;
    const auto now = ExecutionClock::now();
    recording_ = append(groups_, {group, tiles, group_run_, now, now});
}

void TimelineRecorder::group_ends(std::int32_t) {
    if (recording_) groups_.back().end = ExecutionClock::now();
}

void TimelineRecorder::tiles_ran(const TileRun& run) {
    if (!recording_) return;
    append(tiles_[static_cast<std::size_t>(run.thread)], {run.step, run.tiles, group_run_, run.begin, run.end});
}

}  // namespace causeway
