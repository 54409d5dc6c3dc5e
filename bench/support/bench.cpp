#include "support/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/philox.hpp"
#include "exec/thread_pool.hpp"

// No other function has this name; noinline, so that it has an entry and an exit that callgrind sees.
extern "C" [[gnu::noinline]] void causeway_bench_region(const std::function<void()>& body) {
    body();
    asm volatile("" ::: "memory");  // body() is no tail call, which would leave the region at once
}

namespace causeway::bench {
namespace {

std::vector<Case>& cases() {
    static std::vector<Case> instance;
    return instance;
}

void set_counters(benchmark::State& state, const Case& measured, const Run& run, double seconds) {
    const Work& work = measured.work;
    const double rate = static_cast<double>(state.iterations()) / seconds;
    const auto count = [&](const char* name, double value) {
        if (value > 0 && std::isfinite(value)) state.counters[name] = value;  // not x / 0: no bound was measured
    };
    count("GFLOP/s", 1e-9 * work.flops * rate);
    count("%peak", 100 * work.flops * rate / (setup().peak_flops_per_second * setup().threads));
    count("GB/s", 1e-9 * work.bytes * rate);
    const double distinct = work.distinct_bytes > 0 ? work.distinct_bytes : work.bytes;
    count("%stream", 100 * work.bytes * rate / stream_bytes_per_second(work.stream, distinct));
    count("tokens/s", work.tokens * rate);
    count("MiB", run.memory_bytes * 0x1p-20);
}

void time_case(benchmark::State& state, const Case& measured) {
    const Run run = measured.make();
    run.body();  // pages, caches and worker threads are warm before the first timed run
    const auto start = std::chrono::steady_clock::now();
    for (auto iteration : state) {
        run.body();
        benchmark::ClobberMemory();
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    set_counters(state, measured, run, elapsed.count());
}

}  // namespace

Setup& setup() {
    static Setup instance;
    return instance;
}

void add_case(const std::string& name, Work work, std::function<Run()> make) {
    cases().push_back({name, work, std::move(make)});
}

const std::vector<Case>& all_cases() { return cases(); }

void register_cases() {
    for (const Case& measured : cases()) {
        benchmark::RegisterBenchmark(measured.name.c_str(), [&measured](benchmark::State& state) {
            time_case(state, measured);
        })->UseRealTime();
    }
}

bool run_once(const std::string& name) {
    const auto found = std::ranges::find(cases(), name, &Case::name);
    if (found == cases().end()) return false;
    const Run run = found->make();
    run.body();
    causeway_bench_region(run.body);
    return true;
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

Floats random_floats(std::int64_t n, std::uint64_t seed) {
    // So many are drawn, then they repeat: drawing all would take longer than the measurement. A prime, so that no two
    // rows are the same.
    constexpr std::int64_t drawn = 65521;
    RandomStream stream(seed, 0);
    Floats values = zero_floats(n);
    for (std::int64_t i = 0; i < n; ++i) {
        float& value = values[static_cast<std::size_t>(i)];
        if (i < drawn) {
            value = static_cast<float>(static_cast<std::int32_t>(stream.next_u32())) * 0x1p-31f;
        } else {
            value = values[static_cast<std::size_t>(i - drawn)];
        }
    }
    return values;
}

}  // namespace causeway::bench
