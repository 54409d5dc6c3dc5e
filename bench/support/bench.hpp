#pragma once

#include <benchmark/benchmark.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernel_table.hpp"
#include "support/floats.hpp"
#include "support/stream.hpp"

// What every benchmark family shares. A family is one file <family>_bench.cpp with one function register_<family>(),
// declared in families.hpp and called from main.cpp. It calls add_case for each of its cases:
//
//     add_case("softmax/f32/128x512", {.bytes = 8.0 * 128 * 512, .stream = Stream::copy}, [] {
//         auto x = random_floats(128 * 512, 1), y = zero_floats(128 * 512);
//         return [=]() mutable { run_tiles(128, [&](auto begin, auto end) { ...kernels()... }); };
//     });
namespace causeway::bench {

/// Useful work of one run of a case; what is 0 gives no counter.
struct Work {
    double flops = 0;              ///< counted as `causeway plan` counts them
    double bytes = 0;              ///< that have to be read and written, each array once
    Stream stream = Stream::none;  ///< the plain loop that moves such bytes and so bounds the case
    double distinct_bytes = 0;     ///< of memory touched, which decides the cache it lies in; 0: as many as `bytes`
    double tokens = 0;
};

/// Fixed by main before the first case: threads (--threads N), instruction set (CAUSEWAY_ISA), and what one thread of
/// this machine reached at the start of this run.
struct Setup {
    int threads = 1;
    const kernels::KernelTable<float>* kernels = nullptr;
    double peak_flops_per_second = 0;  ///< of fused multiply-adds in registers; 0: not measured
};
Setup& setup();

/// The kernels under test.
inline const kernels::KernelTable<float>& kernels() { return *setup().kernels; }

/// What is timed, and the memory that it needs (bytes; what of it counts is the family's to say).
struct Run {
    template <std::invocable F>
    Run(F f, double bytes = 0) : body(std::move(f)), memory_bytes(bytes) {}

    std::function<void()> body;
    double memory_bytes = 0;
};

struct Case {
    std::string name;
    Work work;
    std::function<Run()> make;
};

/// Adds a case whose whole name is `name`. `make` allocates its data and returns what is timed; it is called when the
/// case is run, so that cases that are filtered out cost nothing.
void add_case(const std::string& name, Work work, std::function<Run()> make);

/// In the order of add_case.
const std::vector<Case>& all_cases();

/// Hands every case to Google Benchmark. Counters: GFLOP/s and GB/s; %peak, the share of the multiply-add peak of all
/// threads; %stream, the share of the rate at which the plain loop `stream` moved its bytes through as much memory,
/// measured right after the case; tokens/s; MiB, the memory of Run.
void register_cases();

/// Runs the case twice, once to warm up and once inside a function named causeway_bench_region, which is what
/// callgrind's --toggle-collect is told. False when there is no such case.
bool run_once(const std::string& name);

/// body(begin, end) over [0, tiles), spread over setup().threads as the executor spreads the tiles of a step.
void run_tiles(std::int64_t tiles, const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace causeway::bench
