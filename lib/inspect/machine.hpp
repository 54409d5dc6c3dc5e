#pragma once

#include <string>

#include "exec/machine_peaks.hpp"

namespace causeway {

/// The peaks of this machine on that many threads (0: all), measured in about `seconds`.
MachinePeaks measure_machine(int threads, double seconds = 0.6);

/// Only the multiply-add peak of one instruction set on that many threads, FLOPs a second: what a run's rate is a share
/// of. Takes about 0.05 s.
double measure_flop_peak(Isa isa, int threads);

/// The peaks as lines for `causeway info`.
std::string peaks_text(const MachinePeaks& peaks);

}  // namespace causeway
