#pragma once

#include <cstddef>
#include <string>

namespace causeway {

/// The processor's model name as the system gives it, or "unknown".
std::string cpu_model();

/// Threads this process may use at once: the affinity mask, cut by the cgroup's CPU quota (rounded up). At least 1.
int available_threads();

/// Bytes this process may still take: the smallest of the free memory of the machine, what its cgroups leave,
/// and the address-space limit.
std::size_t available_memory();

struct CacheSizes {
    std::size_t l1d = 0;  ///< bytes a core; 0 when unknown
    std::size_t l2 = 0;
    std::size_t l3 = 0;  ///< of the whole package
};
CacheSizes cache_sizes();

}  // namespace causeway
