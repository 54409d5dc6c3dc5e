#pragma once

#include <string>
#include <vector>

#include "exec/machine_peaks.hpp"
#include "exec/profiler.hpp"

namespace causeway {

/// A line an op: calls, time, share, GFLOP/s, GB/s and, when peaks are given, % of the FLOP peak of as many cores.
std::string profile_text(const std::vector<ProfileRow>& rows, const MachinePeaks* peaks = nullptr);

/// The peaks as lines for `causeway info`.
std::string peaks_text(const MachinePeaks& peaks);

}  // namespace causeway
