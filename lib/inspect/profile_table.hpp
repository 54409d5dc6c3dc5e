#pragma once

#include <string>
#include <vector>

#include "exec/machine_peaks.hpp"
#include "exec/profiler.hpp"

namespace causeway {

/// What the rates of a profile are held against; 0: unknown.
struct ProfileBounds {
    double flops_per_second = 0;  ///< multiply-adds on all threads, as MachinePeaks::flops_per_second gives it
    double bytes_per_second = 0;  ///< reading memory on all threads
};

/// A line an op, most time first, and one for all of them: calls, time, time a call, share, threads at work in the mean
/// ("threads"), GFLOP/s, GB/s, and the larger of the shares of the two bounds in per cent with the bound that it is
/// of. With `outside_seconds`, time around the ops that counts as well, two more lines: what that is, and the total
/// that shares are of.
std::string profile_text(const std::vector<ProfileRow>& rows, const ProfileBounds& bounds = {},
                         double outside_seconds = 0);

}  // namespace causeway
