#include "inspect/machine.hpp"

#include "base/format.hpp"
#include "inspect/units.hpp"

namespace causeway {

MachinePeaks measure_machine(int threads, double seconds) {
    ThreadPool pool(threads);
    return measure_peaks(pool, seconds);
}

double measure_flop_peak(Isa isa, int threads) {
    ThreadPool pool(threads);
    return measure_flop_peak(pool, isa);
}

std::string peaks_text(const MachinePeaks& peaks) {
    std::string text;
    const auto line = [&](const std::string& what, const std::string& value) {
        text += fmt::format("{:<30}{}\n", what, value);
    };
    for (const MachinePeaks::IsaPeak& peak : peaks.isas) {
        line(fmt::format("f32 peak, {}", to_string(peak.isa)),
             fmt::format("{:.1f} GFLOP/s on one core, {:.1f} on {} thread{}", peak.flops_per_second_one_core / 1e9,
                         peak.flops_per_second_all_threads / 1e9, peaks.threads, peaks.threads == 1 ? "" : "s"));
    }
    line("read, half of L2", fmt::format("{:.1f} GB/s on one core ({})", peaks.l2_bytes_per_second / 1e9,
                                         bytes_text(static_cast<double>(peaks.l2_buffer_bytes))));
    line("read, memory",
         fmt::format("{:.1f} GB/s on one core, {:.1f} on {} thread{} ({})", peaks.dram_bytes_per_second_one_core / 1e9,
                     peaks.dram_bytes_per_second_all_threads / 1e9, peaks.threads, peaks.threads == 1 ? "" : "s",
                     bytes_text(static_cast<double>(peaks.dram_buffer_bytes))));
    if (peaks.wake_seconds_hot > 0) {
        line("waking a second thread",
             fmt::format("{} when hot, {} after 5 ms of rest", seconds_text(peaks.wake_seconds_hot),
                         seconds_text(peaks.wake_seconds_idle)));
    }
    return text;
}

}  // namespace causeway
