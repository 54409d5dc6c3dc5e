#include "inspect/profile_table.hpp"

#include <fmt/format.h>

#include "inspect/text_table.hpp"
#include "inspect/units.hpp"

namespace causeway {

std::string profile_text(const std::vector<ProfileRow>& rows, double peak_flops_per_second) {
    constexpr auto right = TextTable::Align::right;
    TextTable table({{"op"},
                     {"calls", right},
                     {"time", right},
                     {"a call", right},
                     {"share", right},
                     {"GFLOP/s", right},
                     {"GB/s", right},
                     {"% of peak", right}});
    double seconds = 0, flops = 0, bytes = 0;
    const auto add = [&](const std::string& op, const std::string& calls, const std::string& each, double time,
                         double share, double work, double moved) {
        const double rate = time > 0 ? work / time : 0;
        table.add({op, calls, seconds_text(time), each, fmt::format("{:.1f} %", 100 * share),
                   fmt::format("{:.1f}", rate / 1e9), fmt::format("{:.1f}", time > 0 ? moved / time / 1e9 : 0),
                   peak_flops_per_second > 0 ? fmt::format("{:.1f}", 100 * rate / peak_flops_per_second) : "-"});
    };
    for (const ProfileRow& row : rows) {
        add(row.op, count_text(row.calls), seconds_text(row.seconds / static_cast<double>(row.calls)), row.seconds,
            row.share, row.flops, row.bytes);
        seconds += row.seconds;
        flops += row.flops;
        bytes += row.bytes;
    }
    add("all", "", "", seconds, rows.empty() ? 0 : 1, flops, bytes);
    return table.str();
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
