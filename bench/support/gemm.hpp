#pragma once

#include "support/bench.hpp"

namespace causeway::bench {

/// All panels of B, n columns of op(B) and depth k, as `form` (nt or nn) wants them.
inline void pack(kernels::GemmForm form, const float* b, std::int64_t n, std::int64_t k, float* packed) {
    const bool nt = form == kernels::GemmForm::nt;
    const auto pack_panels = nt ? kernels().gemm.pack_nt : kernels().gemm.pack_nn;
    run_tiles(kernels().gemm.panels(n),
              [&](std::int64_t begin, std::int64_t end) { pack_panels(b, nt ? k : n, n, k, packed, begin, end); });
}

/// A packed copy where the kernels want one for so many rows m, as a training step makes it; empty otherwise.
inline Floats packed_if_wanted(kernels::GemmForm form, std::int64_t m, const float* b, std::int64_t n, std::int64_t k) {
    if (form == kernels::GemmForm::tn || !kernels().gemm.wants_packed(form, m, n, k)) return {};
    Floats packed = zero_floats(kernels().gemm.packed_elements(n, k));
    pack(form, b, n, k, packed.data());
    return packed;
}

inline const float* data_or_null(const Floats& floats) { return floats.empty() ? nullptr : floats.data(); }

inline void multiply(kernels::GemmForm form, const kernels::GemmArgs<float>& args) {
    const auto& gemm = kernels().gemm;
    const auto kernel = form == kernels::GemmForm::nt ? gemm.nt : form == kernels::GemmForm::nn ? gemm.nn : gemm.tn;
    run_tiles(gemm.tiling(form, args.m, args.n, args.k).tiles(),
              [&](std::int64_t begin, std::int64_t end) { kernel(args, begin, end); });
}

}  // namespace causeway::bench
