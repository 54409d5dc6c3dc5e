#include "exec/machine_peaks.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/buffer.hpp"
#include "base/cpu.hpp"
#include "kernels/kernel_table.hpp"

namespace causeway {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

template <class F>
double timed(F&& f) {
    const auto begin = Clock::now();
    f();
    return seconds_since(begin);
}

/// The least time of f over rounds that take `seconds` together, at least three.
template <class F>
double least_time(F&& f, double seconds) {
    const auto begin = Clock::now();
    double least = timed(f);
    for (int round = 1; round < 3 || seconds_since(begin) < seconds; ++round) least = std::min(least, timed(f));
    return least;
}

/// Where results go that nobody needs, so that the loops which make them stay.
std::atomic<double> sink{0};

using Probe = kernels::ProbeKernels<float>;

/// Iterations of multiply_add that take about a millisecond: long beside a rendezvous, short beside a time slice.
std::int64_t millisecond_of(const Probe& probe) {
    std::int64_t iterations = 64;
    for (;;) {
        const double seconds = timed([&] { sink = probe.multiply_add(iterations); });
        if (seconds > 2e-4) return std::max<std::int64_t>(1, static_cast<std::int64_t>(iterations * 1e-3 / seconds));
        iterations *= 2;
    }
}

/// FLOPs a second of `tiles` loops at once.
double flop_rate(ThreadPool& pool, const Probe& probe, std::int64_t tiles, double seconds) {
    const std::int64_t iterations = millisecond_of(probe);
    auto work = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t tile = begin; tile < end; ++tile) sink = probe.multiply_add(iterations);
    };
    const auto round = [&] { pool.run([&] { pool.parallel(tiles, TileWork(work)); }, tiles > 1); };
    const double flops = static_cast<double>(tiles * iterations * probe.flops_per_iteration);
    return flops / least_time(round, seconds);
}

/// Bytes a second that `tiles` slices of x are read with, `repeats` times each.
double read_rate(ThreadPool& pool, const Probe& probe, const Buffer& x, std::int64_t tiles, std::int64_t repeats,
                 double seconds) {
    const auto elements = static_cast<std::int64_t>(x.size() / sizeof(float));
    const auto* data = reinterpret_cast<const float*>(x.data());
    auto work = [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t tile = begin; tile < end; ++tile) {
            const std::int64_t first = elements * tile / tiles, last = elements * (tile + 1) / tiles;
            for (std::int64_t r = 0; r < repeats; ++r) sink = probe.read(data + first, last - first);
        }
    };
    const auto round = [&] { pool.run([&] { pool.parallel(tiles, TileWork(work)); }, tiles > 1); };
    return static_cast<double>(x.size()) * static_cast<double>(repeats) / least_time(round, seconds);
}

void fill(const Buffer& x) {
    auto* data = reinterpret_cast<float*>(x.data());
    for (std::size_t i = 0; i < x.size() / sizeof(float); ++i) data[i] = 1.0f;
}

void measure_reads(MachinePeaks& peaks, ThreadPool& pool, double seconds) {
    const Probe& probe = kernels::kernel_table(available_isas().back()).probe;
    const CacheSizes caches = cache_sizes();
    const Buffer cached(std::max<std::size_t>(caches.l2 / 2, std::size_t{128} << 10));
    fill(cached);
    peaks.l2_buffer_bytes = static_cast<std::int64_t>(cached.size());
    peaks.l2_bytes_per_second = read_rate(pool, probe, cached, 1, 64, seconds / 3);

    // Well beyond the last cache, within what a small machine has.
    const std::size_t large = std::min(
        std::clamp<std::size_t>(4 * caches.l3, std::size_t{64} << 20, std::size_t{256} << 20), available_memory() / 4);
    const Buffer memory(large);
    fill(memory);
    peaks.dram_buffer_bytes = static_cast<std::int64_t>(memory.size());
    peaks.dram_bytes_per_second_one_core = read_rate(pool, probe, memory, 1, 1, seconds / 3);
    peaks.dram_bytes_per_second_all_threads = read_rate(pool, probe, memory, pool.threads() * 16, 1, seconds / 3);
}

/// Seconds of a parallel region of two tiles that end when both have started, which takes two threads. Negative when
/// no second thread came within 5 ms.
double rendezvous(ThreadPool& pool) {
    constexpr double patience = 5e-3;
    std::atomic<int> started{0};
    std::atomic<bool> late{false};
    const auto begin = Clock::now();
    auto meet = [&](std::int64_t from, std::int64_t to) {
        started.fetch_add(static_cast<int>(to - from));
        while (started.load() < 2) {
            if (seconds_since(begin) < patience) continue;
            late = true;
            return;
        }
    };
    pool.run([&] { pool.parallel(2, TileWork(meet)); });
    return late ? -1 : seconds_since(begin);
}

double median_rendezvous(ThreadPool& pool, int rounds, std::chrono::microseconds rest) {
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
        if (rest.count() > 0) std::this_thread::sleep_for(rest);
        const double seconds = rendezvous(pool);
        if (seconds >= 0) times.push_back(seconds);
    }
    if (times.empty()) return 0;
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
    return times[times.size() / 2];
}

}  // namespace

double MachinePeaks::flops_per_second(Isa isa, int threads_used) const {
    for (const IsaPeak& peak : isas) {
        if (peak.isa != isa) continue;
        if (threads_used <= 1 || threads <= 1) return peak.flops_per_second_one_core;
        const double share = static_cast<double>(std::min(threads_used, threads) - 1) / (threads - 1);
        return peak.flops_per_second_one_core +
               share * (peak.flops_per_second_all_threads - peak.flops_per_second_one_core);
    }
    return 0;
}

MachinePeaks measure_peaks(ThreadPool& pool, double seconds) {
    MachinePeaks peaks;
    peaks.threads = pool.threads();
    const std::vector<Isa> isas = available_isas();
    const double each = seconds / 2 / static_cast<double>(2 * isas.size());
    for (Isa isa : isas) {
        if (isa == Isa::reference) continue;
        const Probe& probe = kernels::kernel_table(isa).probe;
        MachinePeaks::IsaPeak peak{isa, flop_rate(pool, probe, 1, each), 0};
        peak.flops_per_second_all_threads =
            pool.threads() == 1 ? peak.flops_per_second_one_core : flop_rate(pool, probe, pool.threads(), each);
        peaks.isas.push_back(peak);
    }
    measure_reads(peaks, pool, seconds / 3);
    if (pool.threads() > 1) {
        peaks.wake_seconds_hot = median_rendezvous(pool, 101, std::chrono::microseconds(0));
        peaks.wake_seconds_idle = median_rendezvous(pool, 15, std::chrono::microseconds(5000));
    }
    return peaks;
}

double measure_flop_peak(ThreadPool& pool, Isa isa, double seconds) {
    return flop_rate(pool, kernels::kernel_table(isa).probe, pool.threads(), seconds);
}

}  // namespace causeway
