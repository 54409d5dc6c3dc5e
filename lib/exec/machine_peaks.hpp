#pragma once

#include <cstdint>
#include <vector>

#include "base/isa.hpp"
#include "exec/thread_pool.hpp"

namespace causeway {

/// What the machine can do, measured with loops that do nothing else: the figures results are held against.
struct MachinePeaks {
    struct IsaPeak {
        Isa isa = Isa::reference;
        double flops_per_second_one_core = 0;     ///< f32 fused multiply-adds (two FLOPs each), one thread
        double flops_per_second_all_threads = 0;  ///< the same on every thread of the pool at once
    };
    int threads = 1;
    std::vector<IsaPeak> isas;  ///< the available ones but `reference`, weakest first
    // Reading, bytes a second, with the widest instruction set.
    double l2_bytes_per_second = 0;  ///< one core, buffer of half its L2
    double dram_bytes_per_second_one_core = 0;
    double dram_bytes_per_second_all_threads = 0;
    std::int64_t l2_buffer_bytes = 0, dram_buffer_bytes = 0;
    // From the start of a parallel region of two empty tiles to its end; 0 with one thread.
    double wake_seconds_hot = 0;   ///< workers still spinning
    double wake_seconds_idle = 0;  ///< after 5 ms of rest

    /// The peak of `isa` on that many threads: the measured one for 1 and all, in proportion between. 0 when unknown.
    double flops_per_second(Isa isa, int threads_used) const;
};

/// Takes about `seconds` in all. The best of several short rounds counts: others on the machine can only slow a round.
MachinePeaks measure_peaks(ThreadPool& pool, double seconds = 0.6);

/// Only the multiply-add peak of one instruction set on all threads of the pool, FLOPs a second.
double measure_flop_peak(ThreadPool& pool, Isa isa, double seconds = 0.05);

}  // namespace causeway
