#pragma once

#include <cstddef>
#include <string>

namespace causeway {

/// Cores that the control groups of this process (versions 1 and 2, and every group above) grant it;
/// +infinity when none sets a quota. `root` is put before /proc and /sys.
double cgroup_cores(const std::string& root = "");

/// Bytes that its memory control groups leave it, where file pages that the kernel would drop first count as free;
/// the largest size_t when none sets a limit.
std::size_t cgroup_memory(const std::string& root = "");

}  // namespace causeway
