#include "support/bench.hpp"

#include <chrono>

#include "base/philox.hpp"
#include "exec/thread_pool.hpp"

namespace causeway::bench {

Setup& setup() {
    static Setup instance;
    return instance;
}

void add_case(const std::string& name, Work work, std::function<Run()> make) {
    const auto timed = [work, make = std::move(make)](benchmark::State& state) {
        const Run run = make();
        run();  // pages, caches and worker threads are warm before the first timed run
        const auto start = std::chrono::steady_clock::now();
        for (auto iteration : state) {
            run();
            benchmark::ClobberMemory();
        }
        const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
        const double rate = 1e-9 * static_cast<double>(state.iterations()) / elapsed.count();
        if (work.flops > 0) {
            state.counters["GFLOP/s"] = work.flops * rate;
            state.counters["%peak"] = 1e11 * work.flops * rate / (setup().peak_flops_per_second * setup().threads);
        }
        if (work.bytes > 0) state.counters["GB/s"] = work.bytes * rate;
    };
    benchmark::RegisterBenchmark(name.c_str(), timed)->UseRealTime();
}

void run_tiles(std::int64_t tiles, const std::function<void(std::int64_t, std::int64_t)>& body) {
    if (setup().threads == 1 || tiles == 1) {
        body(0, tiles);  // entering the pool would show in the smallest cases
        return;
    }
    static ThreadPool pool(setup().threads);
    auto work = [&](std::int64_t begin, std::int64_t end) { body(begin, end); };
    pool.run([&] { pool.parallel(tiles, TileWork(work)); });
}

std::vector<float> random_floats(std::int64_t n, std::uint64_t seed) {
    RandomStream stream(seed, 0);
    std::vector<float> values(static_cast<std::size_t>(n));
    for (float& value : values) value = static_cast<float>(static_cast<std::int32_t>(stream.next_u32())) * 0x1p-31f;
    return values;
}

}  // namespace causeway::bench
