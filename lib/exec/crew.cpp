#include "exec/crew.hpp"

#include <algorithm>
#include <thread>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace causeway {
namespace {

/// Waits a little more each time it is called: some 50 us on the core, then other threads may have it.
class Patience {
  public:
    void wait() {
        if (++turns_ > 2000) return std::this_thread::yield();
#if defined(__SSE2__)
        _mm_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
    }
    void renew() { turns_ = 0; }

  private:
    int turns_ = 0;
};

std::uint64_t pack(std::int64_t begin, std::int64_t end) {
    return static_cast<std::uint64_t>(begin) << 32 | static_cast<std::uint64_t>(end);
}

}  // namespace

Crew::Crew(int threads) : threads_(threads), parts_(std::make_unique<Part[]>(static_cast<std::size_t>(threads))) {}

Crew::Range Crew::claim(int part) {
    std::atomic<std::uint64_t>& left = parts_[static_cast<std::size_t>(part)].left;
    std::uint64_t seen = left.load(std::memory_order_relaxed);
    for (;;) {
        const auto begin = static_cast<std::int64_t>(seen >> 32), end = static_cast<std::int64_t>(seen & 0xFFFFFFFFu);
        if (begin >= end) return {0, 0};
        // Large claims first, so that there are few; small ones at the end, so that a slow core holds up nobody.
        const std::int64_t count = std::max<std::int64_t>(1, (end - begin) / 4);
        const std::uint64_t rest = pack(begin + count, end);
        if (left.compare_exchange_weak(seen, rest, std::memory_order_acquire, std::memory_order_relaxed)) {
            return {begin, begin + count};
        }
    }
}

std::int64_t Crew::work_off(int thread) {
    std::int64_t tiles = 0;
    for (int turn = 0; turn < threads_; ++turn) {
        const int part = (thread + turn) % threads_;
        for (;;) {
            const Range range = claim(part);
            if (range.begin == range.end) break;
            work_(range.begin, range.end);
            tiles += range.end - range.begin;
        }
    }
    return tiles;
}

void Crew::share(std::int64_t tiles, TileWork work) {
    work_ = work;
    done_by_helpers_.store(0, std::memory_order_relaxed);
    for (int part = 0; part < threads_; ++part) {
        const std::int64_t begin = tiles * part / threads_, end = tiles * (part + 1) / threads_;
        parts_[static_cast<std::size_t>(part)].left.store(pack(begin, end), std::memory_order_release);
    }
    const std::int64_t mine = work_off(0);
    Patience patience;
    while (done_by_helpers_.load(std::memory_order_acquire) != tiles - mine) patience.wait();
}

void Crew::help(int thread) {
    Patience patience;
    while (!closed_.load(std::memory_order_acquire)) {
        const std::int64_t tiles = work_off(thread);
        if (tiles > 0) {
            done_by_helpers_.fetch_add(tiles, std::memory_order_release);
            patience.renew();
        } else {
            patience.wait();
        }
    }
}

}  // namespace causeway
