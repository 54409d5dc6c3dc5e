#include "exec/crew.hpp"

#include <algorithm>
#include <thread>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "base/ceil_div.hpp"

namespace causeway {
namespace {

/// Chunks a thread and group: enough that a slow core holds up nobody.
constexpr std::int64_t chunks_per_thread = 16;

/// Waits a little more each time it is called: some 50 us on the core, then other threads may have it.
class Patience {
  public:
    void wait() {
        if (++turns_ > 1000) return std::this_thread::yield();
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

}  // namespace

bool Crew::run_one() {
    std::int64_t left = waiting_.load(std::memory_order_relaxed);
    while (left > 0) {
        if (!waiting_.compare_exchange_weak(left, left - 1, std::memory_order_acquire, std::memory_order_relaxed))
            continue;
        const std::int64_t begin = (chunks_ - left) * chunk_tiles_;
        work_(begin, std::min(begin + chunk_tiles_, tiles_));
        done_.fetch_add(1, std::memory_order_release);
        return true;
    }
    return false;
}

std::int64_t Crew::chunk_tiles(std::int64_t tiles, int threads) {
    return std::max<std::int64_t>(1, tiles / (threads * chunks_per_thread));
}

void Crew::share(std::int64_t tiles, TileWork work, int threads) {
    work_ = work;
    tiles_ = tiles;
    chunk_tiles_ = chunk_tiles(tiles, threads);
    chunks_ = ceil_div(tiles, chunk_tiles_);
    done_.store(0, std::memory_order_relaxed);
    waiting_.store(chunks_, std::memory_order_release);
    while (run_one()) {
    }
    Patience patience;
    while (done_.load(std::memory_order_acquire) != chunks_) patience.wait();
}

void Crew::help() {
    Patience patience;
    while (waiting_.load(std::memory_order_acquire) != closed) {
        if (run_one()) {
            patience.renew();
        } else {
            patience.wait();
        }
    }
}

}  // namespace causeway
