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
inline constexpr std::int64_t lanes = static_cast<std::int64_t>(Vec::size);

inline Vec load(const float* from) { return Vec::load_unaligned(from); }
inline void store(float* to, Vec value) { value.store_unaligned(to); }

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
