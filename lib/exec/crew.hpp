#pragma once

#include <atomic>
#include <cstdint>

#include "exec/tile_work.hpp"

namespace causeway {

/// How the threads of a pool share one group of tiles after another. Helpers stay from the first group to the last and
/// spin in between, so that handing a group over takes a few hundred nanoseconds instead of a wake-up. The leader never
/// waits for a helper that has not come yet, or was sent off its core between two chunks: it does their share itself.
///
/// One word says how many chunks of the group nobody has taken. Who takes one (compare-exchange) keeps the group from
/// ending, so what describes the group is read after that only.
class Crew {
  public:
    /// Leader: lets helpers in. No helper of an earlier time may still be there.
    void open() { waiting_.store(0, std::memory_order_relaxed); }
    /// Leader: runs all tiles, each once, together with the helpers; returns when every tile is done.
    void share(std::int64_t tiles, TileWork work, int threads);
    /// Leader: sends the helpers home.
    void close() { waiting_.store(closed, std::memory_order_release); }
    /// Helper: takes part until the leader closes.
    void help();

    /// Tiles that a thread takes at a time: few enough that a slow core holds up nobody.
    static std::int64_t chunk_tiles(std::int64_t tiles, int threads);

  private:
    static constexpr std::int64_t closed = -1;

    /// Takes one chunk of the group and runs it; false when none is left.
    bool run_one();

    alignas(64) std::atomic<std::int64_t> waiting_{closed};  ///< chunks nobody has taken
    alignas(64) std::atomic<std::int64_t> done_{0};          ///< chunks that have been run
    alignas(64) TileWork work_;
    std::int64_t tiles_ = 0;
    std::int64_t chunks_ = 0;
    std::int64_t chunk_tiles_ = 1;
};

}  // namespace causeway
