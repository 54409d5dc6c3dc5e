#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "base/ceil_div.hpp"

namespace causeway::bench {

/// Memory as a plan's arena gives it to the kernels: aligned to cache lines, large blocks on huge pages where the
/// system has them. With malloc's 16 bytes every vector of AVX-512 would cross a line.
template <class T>
struct ArenaAllocator {
    using value_type = T;
    ArenaAllocator() = default;
    template <class U>
    explicit ArenaAllocator(const ArenaAllocator<U>&) {}

    T* allocate(std::size_t n) {
        constexpr std::size_t line = 64, huge_page = std::size_t{2} << 20;
        const std::size_t alignment = n * sizeof(T) >= huge_page ? huge_page : line;
        const std::size_t bytes = round_up(n * sizeof(T), alignment);
        void* memory = std::aligned_alloc(alignment, bytes);
        if (memory == nullptr) throw std::bad_alloc();
        if (alignment == huge_page) madvise(memory, bytes, MADV_HUGEPAGE);
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t) { std::free(memory); }
    friend bool operator==(ArenaAllocator, ArenaAllocator) { return true; }
};

using Floats = std::vector<float, ArenaAllocator<float>>;

/// n floats, uniform in [-1, 1).
Floats random_floats(std::int64_t n, std::uint64_t seed);

/// n zeros.
inline Floats zero_floats(std::int64_t n) { return Floats(static_cast<std::size_t>(n)); }

}  // namespace causeway::bench
