#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

namespace causeway {

/// Work cut into tiles: run(begin, end) does tiles [begin, end). A view, so that handing it over allocates nothing.
class TileWork {
  public:
    template <class F>
    explicit TileWork(F& f)
        : object_(&f),
          call_([](void* object, std::int64_t begin, std::int64_t end) { (*static_cast<F*>(object))(begin, end); }) {}
    void operator()(std::int64_t begin, std::int64_t end) const { call_(object_, begin, end); }

  private:
    void* object_;
    void (*call_)(void*, std::int64_t, std::int64_t);
};

/// Something to call without arguments, as a view too.
class Callback {
  public:
    template <class F>
    explicit Callback(F& f) : object_(&f), call_([](void* object) { (*static_cast<F*>(object))(); }) {}
    void operator()() const { call_(object_); }

  private:
    void* object_;
    void (*call_)(void*);
};

/// A fixed number of threads, the caller among them, over a oneTBB arena. Every thread runs tiles with flush-to-zero
/// set and gets its own floating-point state back afterwards.
class ThreadPool {
  public:
    /// threads >= 1; 0 takes as many as this process may use. Throws CapacityError above 1024.
    explicit ThreadPool(int threads = 0);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int threads() const;

    /// Inside run(): the number of this thread among those of the pool, in [0, threads()); no two that run tiles at the
    /// same time have the same.
    static int current_thread();

    /// Runs f on the calling thread inside the arena, so that the parallel regions it opens find their workers. What f
    /// throws comes through.
    template <class F>
    void run(F&& f) {
        enter(Callback(f));
    }

    /// Runs all tiles, each once, on all threads. To be called inside run(). Returns when every tile is done.
    /// `finished` is called on each thread once there are no more tiles for it.
    void parallel(std::int64_t tiles, TileWork work, const Callback* finished = nullptr);

    /// Tiles that a thread takes at a time: few enough that the last ones keep nobody waiting for long.
    static std::int64_t tiles_at_a_time(std::int64_t tiles, int threads) {
        return std::max<std::int64_t>(1, tiles / (threads * 16));
    }

  private:
    void enter(const Callback& entry);

    struct Arena;
    std::unique_ptr<Arena> arena_;
};

}  // namespace causeway
