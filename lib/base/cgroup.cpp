#include "base/cgroup.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace causeway {
namespace {

/// The number a file begins with; nothing when there is no such file or it says "max" or -1.
std::optional<std::uint64_t> read_number(const std::string& path) {
    std::ifstream file(path);
    std::int64_t number = 0;
    if (!(file >> number) || number < 0) return std::nullopt;
    return static_cast<std::uint64_t>(number);
}

/// The value of `key` in a file of "key value" lines, 0 when it is not there.
std::uint64_t read_entry(const std::string& path, std::string_view key) {
    std::ifstream file(path);
    std::string name;
    std::uint64_t value = 0;
    while (file >> name >> value) {
        if (name == key) return value;
    }
    return 0;
}

/// True when `name` is one of the comma-separated `names`; "" is in "".
bool lists(const std::string& names, std::string_view name) {
    std::istringstream stream(names);
    std::string listed;
    do {
        std::getline(stream, listed, ',');
        if (listed == name) return true;
    } while (stream.good());
    return false;
}

/// The group this process is in: `controller` of version 1, or version 2 when it is empty.
std::string group_of(const std::string& root, std::string_view controller) {
    std::ifstream file(root + "/proc/self/cgroup");  // lines of number:controller,controller:/path
    std::string number, controllers, path;
    while (std::getline(file, number, ':') && std::getline(file, controllers, ':') && std::getline(file, path)) {
        if (lists(controllers, controller)) return path;
    }
    return "/";
}

/// Folders of a group and of all above it, innermost first. Inside a container the path may not be visible, but the
/// mount's top then is the container's own group.
std::vector<std::string> folders_of(const std::string& mount, std::string group) {
    std::vector<std::string> folders;
    while (group.size() > 1) {
        folders.push_back(mount + group);
        group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
    }
    folders.push_back(mount);
    return folders;
}

std::vector<std::string> version2_folders(const std::string& root) {
    return folders_of(root + "/sys/fs/cgroup", group_of(root, ""));
}

std::vector<std::string> version1_folders(const std::string& root, const std::string& controller) {
    return folders_of(root + "/sys/fs/cgroup/" + controller, group_of(root, controller));
}

/// What a group leaves of its limit.
std::size_t memory_left(std::optional<std::uint64_t> limit, std::uint64_t used, std::uint64_t reclaimable) {
    if (!limit) return std::numeric_limits<std::size_t>::max();
    used -= std::min(used, reclaimable);
    return *limit - std::min<std::uint64_t>(*limit, used);
}

}  // namespace

double cgroup_cores(const std::string& root) {
    double cores = std::numeric_limits<double>::infinity();
    const auto limit = [&cores](std::optional<std::uint64_t> quota, std::optional<std::uint64_t> period) {
        if (!quota || !period || *period == 0) return;
        cores = std::min(cores, static_cast<double>(*quota) / static_cast<double>(*period));
    };
    for (const std::string& folder : version2_folders(root)) {
        std::ifstream file(folder + "/cpu.max");  // "max 100000" or "150000 100000"
        std::uint64_t quota = 0, period = 0;
        if (file >> quota >> period) limit(quota, period);
    }
    for (const std::string& folder : version1_folders(root, "cpu")) {
        limit(read_number(folder + "/cpu.cfs_quota_us"), read_number(folder + "/cpu.cfs_period_us"));
    }
    return cores;
}

std::size_t cgroup_memory(const std::string& root) {
    std::size_t bytes = std::numeric_limits<std::size_t>::max();
    for (const std::string& folder : version2_folders(root)) {
        bytes = std::min(
            bytes, memory_left(read_number(folder + "/memory.max"), read_number(folder + "/memory.current").value_or(0),
                               read_entry(folder + "/memory.stat", "inactive_file")));
    }
    for (const std::string& folder : version1_folders(root, "memory")) {
        bytes = std::min(bytes, memory_left(read_number(folder + "/memory.limit_in_bytes"),
                                            read_number(folder + "/memory.usage_in_bytes").value_or(0),
                                            read_entry(folder + "/memory.stat", "total_inactive_file")));
    }
    return bytes;
}

}  // namespace causeway
