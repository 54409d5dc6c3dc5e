#include "train/allocation_counter.hpp"

#include <link.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAUSEWAY_TEST_OWNS_MALLOC 0
#else
#define CAUSEWAY_TEST_OWNS_MALLOC 1
#endif

namespace {

std::atomic<bool> counting{false};
std::atomic<std::int64_t> own{0}, libtbb{0};
std::uintptr_t tbb_begin = 0, tbb_end = 0;

int find_tbb(dl_phdr_info* info, std::size_t, void*) {
    if (info->dlpi_name == nullptr || std::strstr(info->dlpi_name, "libtbb.so") == nullptr) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD) continue;
        const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr, end = begin + segment.p_memsz;
        tbb_begin = tbb_begin == 0 || begin < tbb_begin ? begin : tbb_begin;
        tbb_end = end > tbb_end ? end : tbb_end;
    }
    return 1;
}

[[maybe_unused]] void count(const void* caller) {
    if (!counting.load(std::memory_order_relaxed)) return;
    const auto address = reinterpret_cast<std::uintptr_t>(caller);
    (address >= tbb_begin && address < tbb_end ? libtbb : own).fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

namespace allocation_counter {

bool counts() { return CAUSEWAY_TEST_OWNS_MALLOC != 0; }

void start() {
    if (tbb_begin == 0) dl_iterate_phdr(find_tbb, nullptr);
    own = 0;
    libtbb = 0;
    counting = true;
}

Counts stop() {
    counting = false;
    return {own.load(), libtbb.load()};
}

}  // namespace allocation_counter

#if CAUSEWAY_TEST_OWNS_MALLOC

// glibc's own allocator under its internal names: what is defined here takes its place for the whole process, shared
// libraries and operator new included. What operator new asks for on behalf of libtbb counts as ours: the caller seen
// here is libstdc++.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);

void* malloc(std::size_t bytes) {
    count(__builtin_return_address(0));
    return __libc_malloc(bytes);
}
void* calloc(std::size_t items, std::size_t bytes) {
    count(__builtin_return_address(0));
    return __libc_calloc(items, bytes);
}
void* realloc(void* old, std::size_t bytes) {
    count(__builtin_return_address(0));
    return __libc_realloc(old, bytes);
}
void* memalign(std::size_t alignment, std::size_t bytes) {
    count(__builtin_return_address(0));
    return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    count(__builtin_return_address(0));
    return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
    count(__builtin_return_address(0));
    *out = __libc_memalign(alignment, bytes);
    return *out == nullptr ? ENOMEM : 0;
}
}

#endif
