#include "base/cpu.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace causeway {
namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

/// The number at the head of a file; `fallback` when there is no file or it says "max".
double first_number(const std::string& path, double fallback) {
    std::ifstream file(path);
    std::string word;
    if (!(file >> word) || word == "max") return fallback;
    try {
        return std::stod(word);
    } catch (const std::exception&) {
        return fallback;
    }
}

/// Folders of this process's cgroup (v2), innermost first up to the root.
std::vector<std::string> cgroup_folders() {
    std::ifstream file("/proc/self/cgroup");
    std::string line, path;
    while (std::getline(file, line)) {
        if (line.starts_with("0::")) path = line.substr(3);
    }
    std::vector<std::string> folders;
    while (!path.empty() && path != "/") {
        folders.push_back("/sys/fs/cgroup" + path);
        path = path.substr(0, path.rfind('/'));
    }
    folders.emplace_back("/sys/fs/cgroup");
    return folders;
}

/// Cores granted by cgroup quotas (v2 and v1), +inf when there is none.
double cgroup_cores() {
    double cores = std::numeric_limits<double>::infinity();
    for (const std::string& folder : cgroup_folders()) {
        std::ifstream file(folder + "/cpu.max");
        std::string quota;
        double period = 0;
        if (file >> quota >> period && quota != "max" && period > 0) cores = std::min(cores, std::stod(quota) / period);
    }
    const double quota = first_number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", -1);
    const double period = first_number("/sys/fs/cgroup/cpu/cpu.cfs_period_us", 0);
    if (quota > 0 && period > 0) cores = std::min(cores, quota / period);
    return cores;
}

std::size_t meminfo_available() {
    std::ifstream file("/proc/meminfo");
    std::string key, unit;
    std::size_t kib = 0;
    while (file >> key >> kib >> unit) {
        if (key == "MemAvailable:") return kib * 1024;
    }
    return unlimited;
}

std::size_t left_of(double limit, double used) {
    if (!std::isfinite(limit)) return unlimited;
    return limit > used ? static_cast<std::size_t>(limit - used) : 0;
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
    const double cores = cgroup_cores();
    if (std::isfinite(cores)) threads = std::min(threads, static_cast<int>(std::ceil(cores)));
    return std::max(threads, 1);
}

std::size_t available_memory() {
    std::size_t bytes = meminfo_available();
    const double inf = std::numeric_limits<double>::infinity();
    for (const std::string& folder : cgroup_folders()) {
        bytes = std::min(bytes, left_of(first_number(folder + "/memory.max", inf),
                                        first_number(folder + "/memory.current", 0)));
    }
    const double v1_limit = first_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", inf);
    bytes = std::min(bytes, left_of(v1_limit, first_number("/sys/fs/cgroup/memory/memory.usage_in_bytes", 0)));
    rlimit space{};
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
        const double used = first_number("/proc/self/statm", 0) * static_cast<double>(sysconf(_SC_PAGESIZE));
        bytes = std::min(bytes, left_of(static_cast<double>(space.rlim_cur), used));
    }
    return bytes;
}

CacheSizes cache_sizes() {
    const auto ask = [](int name) {
        const long value = sysconf(name);
        return value > 0 ? static_cast<std::size_t>(value) : std::size_t{0};
    };
    return {ask(_SC_LEVEL1_DCACHE_SIZE), ask(_SC_LEVEL2_CACHE_SIZE), ask(_SC_LEVEL3_CACHE_SIZE)};
}

}  // namespace causeway
