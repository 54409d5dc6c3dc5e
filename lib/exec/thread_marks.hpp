#pragma once

// What ThreadSanitizer has to be told about a hand-over that goes through libtbb, which it cannot see into.

#if defined(__SANITIZE_THREAD__)
extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

namespace causeway {

/// All that this thread did until now is seen by the threads that call seen_after with the same address from now on.
inline void seen_before([[maybe_unused]] void* address) {
#if defined(__SANITIZE_THREAD__)
    __tsan_release(address);
#endif
}

inline void seen_after([[maybe_unused]] void* address) {
#if defined(__SANITIZE_THREAD__)
    __tsan_acquire(address);
#endif
}

}  // namespace causeway
