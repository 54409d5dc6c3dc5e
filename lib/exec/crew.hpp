#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "exec/tile_work.hpp"

namespace causeway {

/// How the threads of a pool share one group of tiles after another. Helpers stay from the first group to the last and
/// spin in between, so that handing a group over takes a few hundred nanoseconds instead of a wake-up. The leader never
/// waits for a helper that has not come yet, or was sent off its core between two claims: it does their share itself.
///
/// Thread i of n first does the i-th part of the tiles, so that the rows it wrote in one group are those it reads in
/// the next, from its own cache; then it takes from what others have left. What is left of a part is one word; who
/// changes it (compare-exchange) has claimed tiles, which keeps the group from ending, so what describes the group is
/// read after that only.
class Crew {
  public:
    /// Threads, the leader among them.
    explicit Crew(int threads);

    /// Leader: lets helpers in. No helper of an earlier time may still be there.
    void open() { closed_.store(false, std::memory_order_relaxed); }
    bool is_open() const { return !closed_.load(std::memory_order_relaxed); }
    /// Leader: runs all tiles, each once, together with the helpers; returns when every tile is done. tiles < 2^31.
    void share(std::int64_t tiles, TileWork work);
    /// Leader: sends the helpers home.
    void close() { closed_.store(true, std::memory_order_release); }
    /// Helper `thread`, 1 to threads - 1: takes part until the leader closes.
    void help(int thread);

  private:
    struct Range {
        std::int64_t begin, end;
    };
    /// Tiles nobody has claimed, one cache line a part.
    struct alignas(64) Part {
        std::atomic<std::uint64_t> left{0};  ///< begin in the upper half, end in the lower
    };

    /// Claims the first of the tiles left of a part; empty when none are left.
    Range claim(int part);
    /// Runs what this thread can claim, first of its own part; returns how many tiles that were.
    std::int64_t work_off(int thread);

    int threads_;
    std::unique_ptr<Part[]> parts_;
    alignas(64) std::atomic<std::int64_t> done_by_helpers_{0};  ///< tiles
    alignas(64) std::atomic<bool> closed_{true};
    TileWork work_;
};

}  // namespace causeway
