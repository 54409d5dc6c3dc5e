#include "exec/thread_pool.hpp"

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>

#include <exception>
#include <optional>

#include "base/cpu.hpp"
#include "base/format.hpp"
#include "causeway/error.hpp"
#include "exec/crew.hpp"
#include "exec/float_mode.hpp"
#include "exec/fork_join.hpp"
#include "exec/thread_marks.hpp"

namespace causeway {

struct ThreadPool::Arena {
    explicit Arena(int count) : threads(count), arena(count), crew(count) {
        // More threads than cores are given only when the whole process allows them; fewer need no such word, and the
        // caller's own use of oneTBB stays as it is.
        if (count > tbb::info::default_concurrency()) {
            more.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(count));
        }
    }
    int threads;
    std::optional<tbb::global_control> more;
    tbb::task_arena arena;
    Crew crew;
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

/// One run() and what its helpers need.
struct ThreadPool::Session {
    const Entry& entry;
    Crew& crew;
    std::exception_ptr error;

    static void lead(void* object) {
        Session& session = *static_cast<Session*>(object);
        try {
            session.entry();
        } catch (...) {
            session.error = std::current_exception();
        }
        session.crew.close();
    }

    static void help(void* object) {
        seen_after(object);
        {
            const FlushDenormals flush;
            static_cast<Session*>(object)->crew.help(current_thread());
        }
        seen_before(object);
    }
};

void ThreadPool::enter(const Entry& entry, bool helpers) {
    helpers = helpers && arena_->threads > 1;
    arena_->arena.execute([&] {
        const FlushDenormals flush;
        if (!helpers) return entry();
        Session session{entry, arena_->crew, nullptr};
        arena_->crew.open();
        seen_before(&session);
        fork_join(arena_->threads - 1, Session::lead, Session::help, &session);
        seen_after(&session);
        if (session.error) std::rethrow_exception(session.error);
    });
}

void ThreadPool::parallel(std::int64_t tiles, TileWork work) {
    if (arena_->crew.is_open() && tiles > 1) {
        arena_->crew.share(tiles, work);
    } else {
        work(0, tiles);
    }
}

}  // namespace causeway
