#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace causeway {

/// Flushes denormal floats to zero on this thread while it lives, then restores the caller's state: a moment that has
/// decayed below 1e-38 must not make a step many times slower.
class FlushDenormals {
  public:
#if defined(__SSE2__)
    FlushDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040u); }  // FTZ and DAZ
    ~FlushDenormals() { _mm_setcsr(saved_); }
#elif defined(__aarch64__)
    FlushDenormals() {
        __asm__ volatile("mrs %0, fpcr" : "=r"(saved_));
        const std::uint64_t flushing = saved_ | (std::uint64_t{1} << 24);  // FZ
        __asm__ volatile("msr fpcr, %0" : : "r"(flushing));
    }
    ~FlushDenormals() { __asm__ volatile("msr fpcr, %0" : : "r"(saved_)); }
#else
    FlushDenormals() = default;
    ~FlushDenormals() {}
#endif
    FlushDenormals(const FlushDenormals&) = delete;
    FlushDenormals& operator=(const FlushDenormals&) = delete;

  private:
#if defined(__SSE2__)
    unsigned saved_;
#elif defined(__aarch64__)
    std::uint64_t saved_ = 0;
#endif
};

}  // namespace causeway
