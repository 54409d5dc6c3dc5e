#pragma once

#include <cstdint>
#include <memory>

#include "exec/tile_work.hpp"

namespace causeway {

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

    /// Runs f on the calling thread. The other threads are called once, and help with every parallel() inside f;
    /// without `helpers` they are left alone. What f throws comes through. One run() at a time.
    template <class F>
    void run(F&& f, bool helpers = true) {
        enter(Entry(f), helpers);
    }

    /// Runs all tiles, each once, on the threads that take part. To be called inside run(), on its thread. Returns when
    /// every tile is done.
    void parallel(std::int64_t tiles, TileWork work);

  private:
    class Entry {
      public:
        template <class F>
        explicit Entry(F& f) : object_(&f), call_([](void* object) { (*static_cast<F*>(object))(); }) {}
        void operator()() const { call_(object_); }

      private:
        void* object_;
        void (*call_)(void*);
    };
    void enter(const Entry& entry, bool helpers);

    struct Arena;
    struct Session;
    std::unique_ptr<Arena> arena_;
};

}  // namespace causeway
