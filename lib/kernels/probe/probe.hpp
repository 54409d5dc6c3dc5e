#pragma once

#include <cstdint>

namespace causeway::kernels {

/// Loops that reach what the hardware can do, for the peaks that results are held against.
template <class T>
struct ProbeKernels {
    /// Runs `iterations` rounds of independent fused multiply-adds in registers. Returns a value that depends on all of
    /// them, so that nothing is optimised away.
    double (*multiply_add)(std::int64_t iterations);
    /// Floating-point operations of one round of multiply_add.
    std::int64_t flops_per_iteration;
    /// Reads x[0, n) once with full-width loads; returns their sum.
    double (*read)(const T* x, std::int64_t n);
};

}  // namespace causeway::kernels
