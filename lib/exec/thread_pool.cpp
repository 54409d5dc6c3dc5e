#include "exec/thread_pool.hpp"

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "base/cpu.hpp"
#include "causeway/error.hpp"
#include "exec/float_mode.hpp"
#include "exec/fork_join.hpp"
#include "exec/thread_marks.hpp"

namespace causeway {

struct ThreadPool::Arena {
    explicit Arena(int count) : threads(count), arena(count) {
        // More threads than cores are given only when the whole process allows them; fewer need no such word, and the
        // caller's own use of oneTBB stays as it is.
        if (count > tbb::info::default_concurrency()) {
            more.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(count));
        }
    }
    int threads;
    std::optional<tbb::global_control> more;
    tbb::task_arena arena;
};

ThreadPool::ThreadPool(int threads) {
    constexpr int most = 1024;
    if (threads < 0 || threads > most) {
        throw CapacityError(fmt::format("threads must be 0 (all) or 1 to {}, found {}", most, threads));
    }
    arena_ = std::make_unique<Arena>(threads == 0 ? available_threads() : threads);
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::threads() const { return arena_->threads; }
int ThreadPool::current_thread() { return tbb::this_task_arena::current_thread_index(); }

void ThreadPool::enter(const Callback& entry) {
    arena_->arena.execute([&] {
        const FlushDenormals flush;
        entry();
    });
}

namespace {

/// The tiles of one parallel region. Threads take the next few whenever they are free, so a slow core holds up nobody;
/// which thread runs a tile does not show in its result.
struct TileQueue {
    TileWork work;
    const Callback* finished;
    std::int64_t tiles;
    std::int64_t grab;
    std::atomic<std::int64_t> next{0};

    static void drain(void* object, int) {
        seen_after(object);
        TileQueue& queue = *static_cast<TileQueue*>(object);
        {
            const FlushDenormals flush;
            for (;;) {
                const std::int64_t begin = queue.next.fetch_add(queue.grab, std::memory_order_relaxed);
                if (begin >= queue.tiles) break;
                queue.work(begin, std::min(begin + queue.grab, queue.tiles));
            }
            if (queue.finished != nullptr) (*queue.finished)();
        }
        seen_before(object);
    }
};

}  // namespace

void ThreadPool::parallel(std::int64_t tiles, TileWork work, const Callback* finished) {
    const int threads = static_cast<int>(std::min<std::int64_t>(arena_->threads, tiles));
    if (threads <= 1) {
        work(0, tiles);
        if (finished != nullptr) (*finished)();
        return;
    }
    TileQueue queue{work, finished, tiles, tiles_at_a_time(tiles, threads)};
    seen_before(&queue);
    fork_join(threads, &TileQueue::drain, &queue);
    seen_after(&queue);
}

}  // namespace causeway
