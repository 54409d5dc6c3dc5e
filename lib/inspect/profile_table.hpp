#pragma once

#include <string>
#include <vector>

#include "exec/machine_peaks.hpp"
#include "exec/profiler.hpp"

namespace causeway {

/// A line an op and one for all: calls, time, share, GFLOP/s, GB/s and % of a peak (0: unknown), as
/// MachinePeaks::flops_per_second and measure_flop_peak give it.
std::string profile_text(const std::vector<ProfileRow>& rows, double peak_flops_per_second = 0);

/// The peaks as lines for `causeway info`.
std::string peaks_text(const MachinePeaks& peaks);

}  // namespace causeway
