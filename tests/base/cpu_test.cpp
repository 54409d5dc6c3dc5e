#include "base/cpu.hpp"

#include <sched.h>
#include <sys/resource.h>

#include <cmath>
#include <limits>

#include "base/cgroup.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;

namespace {
constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
}

TEST_CASE("B67: the default thread count honours the affinity mask") {
    cpu_set_t before;
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    const int all = available_threads();
    CHECK(all >= 1);
    CHECK(all <= CPU_COUNT(&before));

    cpu_set_t one;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &before)) continue;
        CPU_SET(cpu, &one);
        break;
    }
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(available_threads() == 1);
    REQUIRE(sched_setaffinity(0, sizeof before, &before) == 0);
}

TEST_CASE("B67: the default thread count honours cgroup quotas") {
    const TemporaryFolder root;
    CHECK(std::isinf(cgroup_cores(root.path())));

    SECTION("version 2, the tightest of the group and those above it") {
        root.write("proc/self/cgroup", "0::/outer/inner\n");
        root.write("sys/fs/cgroup/outer/inner/cpu.max", "max 100000\n");
        CHECK(std::isinf(cgroup_cores(root.path())));
        root.write("sys/fs/cgroup/outer/cpu.max", "150000 100000\n");
        CHECK(cgroup_cores(root.path()) == 1.5);
        root.write("sys/fs/cgroup/outer/inner/cpu.max", "50000 100000\n");
        CHECK(cgroup_cores(root.path()) == 0.5);
    }
    SECTION("version 1, in a group and at the mount's top") {
        root.write("proc/self/cgroup", "5:memory:/m\n3:cpu,cpuacct:/jobs/7\n0::/\n");
        root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
        root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        CHECK(std::isinf(cgroup_cores(root.path())));
        root.write("sys/fs/cgroup/cpu/jobs/7/cpu.cfs_quota_us", "200000\n");
        root.write("sys/fs/cgroup/cpu/jobs/7/cpu.cfs_period_us", "100000\n");
        CHECK(cgroup_cores(root.path()) == 2.0);
    }
}

TEST_CASE("memory that cgroups leave does not count droppable file pages as used") {
    const TemporaryFolder root;
    CHECK(cgroup_memory(root.path()) == unlimited);

    SECTION("version 2") {
        root.write("proc/self/cgroup", "0::/box\n");
        root.write("sys/fs/cgroup/box/memory.max", "1000000\n");
        root.write("sys/fs/cgroup/box/memory.current", "600000\n");
        CHECK(cgroup_memory(root.path()) == 400000);
        root.write("sys/fs/cgroup/box/memory.stat", "anon 100000\nfile 500000\ninactive_file 450000\n");
        CHECK(cgroup_memory(root.path()) == 850000);
        root.write("sys/fs/cgroup/box/memory.current", "1200000\n");
        CHECK(cgroup_memory(root.path()) == 250000);
        root.write("sys/fs/cgroup/box/memory.current", "9000000\n");
        CHECK(cgroup_memory(root.path()) == 0);
        root.write("sys/fs/cgroup/box/memory.max", "max\n");
        CHECK(cgroup_memory(root.path()) == unlimited);
    }
    SECTION("version 1") {
        root.write("proc/self/cgroup", "4:memory:/deep/box\n");
        root.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
        root.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "5000\n");
        CHECK(cgroup_memory(root.path()) == 9223372036854771712u - 5000);
        root.write("sys/fs/cgroup/memory/deep/memory.limit_in_bytes", "2000\n");
        root.write("sys/fs/cgroup/memory/deep/memory.usage_in_bytes", "1500\n");
        root.write("sys/fs/cgroup/memory/deep/memory.stat", "inactive_file 1\ntotal_inactive_file 300\n");
        CHECK(cgroup_memory(root.path()) == 800);
    }
}

TEST_CASE("available memory is plausible and honours the address-space limit") {
    const std::size_t free = available_memory();
    CHECK(free > (std::size_t{1} << 20));
    CHECK(free < (std::size_t{1} << 50));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their shadow memory exceeds any limit
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
    const rlimit tight{std::size_t{1} << 30, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);
    rlimit applied{};
    REQUIRE(getrlimit(RLIMIT_AS, &applied) == 0);
    if (applied.rlim_cur != tight.rlim_cur) {
        WARN("this system (an emulator?) takes no address-space limit: not tested");
        return;
    }
    const std::size_t limited = available_memory();
    REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
    CHECK(limited < (std::size_t{1} << 30));
    CHECK(limited > 0);
#endif
}

TEST_CASE("the processor describes itself") {
    CHECK_FALSE(cpu_model().empty());
    const CacheSizes caches = cache_sizes();
    if (caches.l1d > 0 && caches.l2 > 0) CHECK(caches.l1d < caches.l2);
}
