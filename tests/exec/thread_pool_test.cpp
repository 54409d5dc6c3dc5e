#include "exec/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "base/cpu.hpp"
#include "causeway/error.hpp"
#include "support/catch.hpp"

using namespace causeway;

TEST_CASE("Every tile runs once, whatever the number of threads") {
    for (int threads : {1, 2, 3, 8}) {
        ThreadPool pool(threads);
        CHECK(pool.threads() == threads);
        for (std::int64_t tiles : {0, 1, 2, 7, 1000}) {
            std::vector<std::atomic<int>> runs(static_cast<std::size_t>(tiles));
            auto work = [&](std::int64_t begin, std::int64_t end) {
                for (std::int64_t t = begin; t < end; ++t) ++runs[static_cast<std::size_t>(t)];
            };
            pool.run([&] { pool.parallel(tiles, TileWork(work)); });
            for (const std::atomic<int>& count : runs) CHECK(count == 1);
        }
    }
}

TEST_CASE("Groups follow each other within one run, each complete before the next begins") {
    for (int threads : {2, 3, 8}) {
        ThreadPool pool(threads);
        std::vector<std::int64_t> sums(33, 0);  // written by whoever runs the tile, read by the next group
        auto work = [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t t = begin; t < end; ++t) ++sums[static_cast<std::size_t>(t)];
        };
        for (int run = 0; run < 20; ++run) {
            pool.run([&] {
                for (int group = 0; group < 50; ++group) {
                    const std::int64_t first = sums[0];
                    REQUIRE(std::ranges::all_of(sums, [&](std::int64_t sum) { return sum == first; }));
                    pool.parallel(static_cast<std::int64_t>(sums.size()), TileWork(work));
                }
            });
        }
        CHECK(sums[0] == 1000);
    }
}

TEST_CASE("Without helpers every tile runs on the calling thread") {
    ThreadPool pool(3);
    const std::thread::id caller = std::this_thread::get_id();
    int elsewhere = 0;
    auto work = [&](std::int64_t, std::int64_t) { elsewhere += std::this_thread::get_id() != caller; };
    pool.run([&] { pool.parallel(64, TileWork(work)); }, false);
    CHECK(elsewhere == 0);
}

TEST_CASE("B67: the default number of threads is what the process may use") {
    CHECK(ThreadPool(0).threads() == available_threads());
    CHECK_THROWS_MESSAGE(ThreadPool(-1), CapacityError, "found -1");
    CHECK_THROWS_MESSAGE(ThreadPool(5000), CapacityError, "found 5000");
}

TEST_CASE("What f throws in run(f) reaches the caller") {
    ThreadPool pool(2);
    CHECK_THROWS_AS(pool.run([] { throw NumericError("stop"); }), NumericError);
    CHECK_THROWS_AS(pool.run([] { throw NumericError("stop"); }, false), NumericError);
    bool ran = false;
    pool.run([&] { ran = true; });
    CHECK(ran);
}

#if defined(__SSE2__)
TEST_CASE("B68: denormals are flushed while tiles run, and the caller's floating-point state comes back") {
    ThreadPool pool(3);
    const unsigned before = _mm_getcsr();
    std::atomic<int> not_flushing{0};
    auto work = [&](std::int64_t, std::int64_t) { not_flushing += (_mm_getcsr() & 0x8040u) != 0x8040u; };
    pool.run([&] { pool.parallel(64, TileWork(work)); });
    CHECK(not_flushing == 0);
    CHECK(_mm_getcsr() == before);
}
#endif
