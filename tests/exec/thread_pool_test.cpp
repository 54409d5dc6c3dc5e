#include "exec/thread_pool.hpp"

#include <atomic>
#include <numeric>
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

TEST_CASE("B67 the default number of threads is what the process may use") {
    CHECK(ThreadPool(0).threads() == available_threads());
    CHECK_THROWS_MESSAGE(ThreadPool(-1), CapacityError, "found -1");
    CHECK_THROWS_MESSAGE(ThreadPool(5000), CapacityError, "found 5000");
}

TEST_CASE("Each thread says when it has finished, after its last tile") {
    for (int threads : {1, 2, 3}) {
        ThreadPool pool(threads);
        std::vector<int> ran(static_cast<std::size_t>(threads)), told(static_cast<std::size_t>(threads));
        const auto here = [] { return static_cast<std::size_t>(ThreadPool::current_thread()); };
        auto work = [&](std::int64_t begin, std::int64_t end) { ran[here()] += static_cast<int>(end - begin); };
        auto finished = [&] { told[here()] = ran[here()]; };
        const Callback callback(finished);
        pool.run([&] { pool.parallel(1000, TileWork(work), &callback); });
        CHECK(told == ran);
        CHECK(std::accumulate(ran.begin(), ran.end(), 0) == 1000);
    }
}

TEST_CASE("What the work throws reaches the caller") {
    ThreadPool pool(2);
    CHECK_THROWS_AS(pool.run([] { throw NumericError("stop"); }), NumericError);
}

#if defined(__SSE2__)
TEST_CASE("B68 denormals are flushed while tiles run, and the caller's floating-point state comes back") {
    ThreadPool pool(3);
    const unsigned before = _mm_getcsr();
    std::atomic<int> not_flushing{0};
    auto work = [&](std::int64_t, std::int64_t) { not_flushing += (_mm_getcsr() & 0x8040u) != 0x8040u; };
    pool.run([&] { pool.parallel(64, TileWork(work)); });
    CHECK(not_flushing == 0);
    CHECK(_mm_getcsr() == before);
}
#endif
