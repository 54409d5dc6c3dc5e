#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "kernels/kernel_table.hpp"

// What every benchmark family shares. A family is one file <family>_bench.cpp with one function register_<family>(),
// declared in families.hpp and called from main.cpp. It calls add_case for each of its cases:
//
//     add_case("softmax/f32/128x512", {.bytes = 8.0 * 128 * 512}, [] {
//         auto x = random_floats(128 * 512, 1);
//         std::vector<float> y(x.size());
//         return [x, y]() mutable { run_tiles(128, [&](auto begin, auto end) { ...kernels()... }); };
//     });
namespace causeway::bench {

/// Useful work of one run of a case; 0 leaves the counter out.
struct Work {
    double flops = 0;
    double bytes = 0;
};

/// Fixed by main before the first case: threads (--threads N), instruction set (CAUSEWAY_ISA), and what one thread of
/// this machine reached at the start of this run.
struct Setup {
    int threads = 1;
    const kernels::KernelTable<float>* kernels = nullptr;
    double peak_flops_per_second = 0;  ///< of fused multiply-adds in registers
};
Setup& setup();

/// The kernels under test.
inline const kernels::KernelTable<float>& kernels() { return *setup().kernels; }

using Run = std::function<void()>;

/// Registers a benchmark whose whole name is `name`. `make` allocates the case's data and returns what is timed; it is
/// called when the case is run, so that cases that are filtered out cost nothing. Counters: GFLOP/s, GB/s, and
/// %peak of all threads.
void add_case(const std::string& name, Work work, std::function<Run()> make);

/// body(begin, end) over [0, tiles), spread over setup().threads as the executor spreads the tiles of a step.
void run_tiles(std::int64_t tiles, const std::function<void(std::int64_t, std::int64_t)>& body);

/// n floats, uniform in [-1, 1).
std::vector<float> random_floats(std::int64_t n, std::uint64_t seed);

}  // namespace causeway::bench
