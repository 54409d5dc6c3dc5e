#pragma once

// The one place that knows xsimd's versions: which batch an ISA's kernels use, and the names that changed between
// xsimd 8.1 and 13. Included by x.simd.cpp files only. Everything here is in the ISA's own namespace, so that no inline
// function compiled for one instruction set is ever linked in place of another's.

#include <cstdint>
#include <xsimd/xsimd.hpp>

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

#if defined(__AVX512F__)
using Arch = xsimd::avx512bw;
#elif defined(__AVX2__)
using Arch = xsimd::fma3<xsimd::avx2>;
#elif defined(__aarch64__)
using Arch = xsimd::neon64;
#else
using Arch = xsimd::sse2;
#endif

using Vec = xsimd::batch<float, Arch>;
using VecInt = xsimd::batch<std::int32_t, Arch>;
using VecLong = xsimd::batch<std::uint64_t, Arch>;
inline constexpr std::int64_t lanes = static_cast<std::int64_t>(Vec::size);

inline Vec load(const float* from) { return Vec::load_unaligned(from); }
inline void store(float* to, Vec value) { value.store_unaligned(to); }

#if XSIMD_VERSION_MAJOR >= 10
inline VecInt bits_of(Vec value) { return xsimd::bitwise_cast<std::int32_t>(value); }
inline Vec float_of(VecInt bits) { return xsimd::bitwise_cast<float>(bits); }
inline VecInt halves_of(VecLong value) { return xsimd::bitwise_cast<std::int32_t>(value); }
inline float reduce_add(Vec value) { return xsimd::reduce_add(value); }
#else
inline VecInt bits_of(Vec value) { return xsimd::bitwise_cast<VecInt>(value); }
inline Vec float_of(VecInt bits) { return xsimd::bitwise_cast<Vec>(bits); }
inline VecInt halves_of(VecLong value) { return xsimd::bitwise_cast<VecInt>(value); }
inline float reduce_add(Vec value) { return xsimd::hadd(value); }
#endif

/// The 64-bit products of the low halves of 64-bit lanes.
inline VecLong multiply_low_halves(VecLong a, VecLong b) {
#if defined(__AVX512F__)
    return _mm512_mul_epu32(a, b);
#elif defined(__AVX2__)
    return _mm256_mul_epu32(a, b);
#elif defined(__aarch64__)
    return vmull_u32(vmovn_u64(a), vmovn_u64(b));
#else
    return _mm_mul_epu32(a, b);
#endif
}

/// Writes a vector past the caches where it is a whole line of them, and like store() elsewhere; `to` is aligned to a
/// vector. What was written so is ordered for other threads by end_streaming() alone.
inline void stream(float* to, Vec value) {
#if defined(__AVX512F__)
    _mm512_stream_ps(to, value);
#else
    store(to, value);
#endif
}

inline void end_streaming() {
#if defined(__AVX512F__)
    _mm_sfence();
#endif
}

/// The largest lane.
inline float reduce_max(Vec value) {
#if defined(__AVX512F__)
    return _mm512_reduce_max_ps(value);
#else
    float lane[lanes];
    store(lane, value);
    float top = lane[0];
    for (std::int64_t i = 1; i < lanes; ++i) top = lane[i] > top ? lane[i] : top;
    return top;
#endif
}

/// The first n floats at `from` (0 <= n <= lanes), `rest` in the other lanes. Reads no byte beyond them.
inline Vec load_partial(const float* from, std::int64_t n, float rest = 0) {
#if defined(__AVX512F__)
    const __mmask16 mask = static_cast<__mmask16>((1U << n) - 1U);
    return _mm512_mask_loadu_ps(_mm512_set1_ps(rest), mask, from);
#elif defined(__AVX2__)
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), lane);
    return _mm256_blendv_ps(_mm256_set1_ps(rest), _mm256_maskload_ps(from, mask), _mm256_castsi256_ps(mask));
#else
    float lane[lanes];
    for (std::int64_t i = 0; i < lanes; ++i) lane[i] = i < n ? from[i] : rest;
    return load(lane);
#endif
}

/// Writes the first n lanes (0 <= n <= lanes) and no byte beyond them.
inline void store_partial(float* to, Vec value, std::int64_t n) {
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1U << n) - 1U), value);
#elif defined(__AVX2__)
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    _mm256_maskstore_ps(to, _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)), lane), value);
#else
    float lane[lanes];
    store(lane, value);
    for (std::int64_t i = 0; i < n; ++i) to[i] = lane[i];
#endif
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
