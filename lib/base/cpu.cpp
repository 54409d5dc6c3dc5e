#include "base/cpu.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>

#include "base/cgroup.hpp"

namespace causeway {
namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::size_t meminfo_available() {
    std::ifstream file("/proc/meminfo");
    std::string key, unit;
    std::size_t kib = 0;
    while (file >> key >> kib >> unit) {
        if (key == "MemAvailable:") return kib * 1024;
    }
    return unlimited;
}

/// What the address-space limit (ulimit -v) leaves.
std::size_t address_space_left() {
    rlimit space{};
    if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY) return unlimited;
    std::ifstream file("/proc/self/statm");
    std::size_t pages = 0;
    if (!(file >> pages)) return unlimited;
    const std::size_t used = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return space.rlim_cur - std::min<std::size_t>(space.rlim_cur, used);
}

}  // namespace

std::string cpu_model() {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line)) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "unknown";
}

int available_threads() {
    int threads = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) threads = CPU_COUNT(&set);
    return std::max(1, static_cast<int>(std::min<double>(threads, std::ceil(cgroup_cores()))));
}

std::size_t available_memory() { return std::min({meminfo_available(), cgroup_memory(), address_space_left()}); }

CacheSizes cache_sizes() {
    const auto ask = [](int name) {
        const long value = sysconf(name);
        return value > 0 ? static_cast<std::size_t>(value) : std::size_t{0};
    };
    return {ask(_SC_LEVEL1_DCACHE_SIZE), ask(_SC_LEVEL2_CACHE_SIZE), ask(_SC_LEVEL3_CACHE_SIZE)};
}

}  // namespace causeway
