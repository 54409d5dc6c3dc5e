#include "support/bench.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>

#include "base/philox.hpp"

namespace causeway::bench {

Setup& setup() {
    static Setup instance;
    return instance;
}

Peaks measure_peaks(const kernels::KernelTable<float>& table) {
    using Clock = std::chrono::steady_clock;
    constexpr int runs = 200;
    constexpr std::int64_t iterations = 10'000;  // well under a millisecond: short runs dodge other users of the core
    Peaks peaks;
    for (int run = 0; run < runs; ++run) {
        const auto start = Clock::now();
        benchmark::DoNotOptimize(table.probe.multiply_add(iterations));
        const std::chrono::duration<double> elapsed = Clock::now() - start;
        const double flops = static_cast<double>(iterations * table.probe.flops_per_iteration);
        peaks.flops_per_second = std::max(peaks.flops_per_second, flops / elapsed.count());
    }
    return peaks;
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
            state.counters["%peak"] = 1e11 * work.flops * rate / (setup().peaks.flops_per_second * setup().threads);
        }
        if (work.bytes > 0) state.counters["GB/s"] = work.bytes * rate;
    };
    benchmark::RegisterBenchmark(name.c_str(), timed)->UseRealTime();
}

void run_tiles(std::int64_t tiles, const std::function<void(std::int64_t, std::int64_t)>& body) {
    if (setup().threads == 1 || tiles == 1) {
        body(0, tiles);
        return;
    }
    static tbb::task_arena arena(setup().threads);
    arena.execute([&] {
        tbb::parallel_for(
            tbb::blocked_range<std::int64_t>(0, tiles), [&](const auto& range) { body(range.begin(), range.end()); },
            tbb::static_partitioner{});
    });
}

std::vector<float> random_floats(std::int64_t n, std::uint64_t seed) {
    RandomStream stream(seed, 0);
    std::vector<float> values(static_cast<std::size_t>(n));
    for (float& value : values) value = static_cast<float>(static_cast<std::int32_t>(stream.next_u32())) * 0x1p-31f;
    return values;
}

}  // namespace causeway::bench
