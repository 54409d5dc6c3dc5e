#pragma once

// Sums of squares in double: the squares of large floats overflow a float. Included by x.simd.cpp files only.

#include "kernels/arch.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

/// Half a vector of floats and the same in double: xsimd 8.1 has no widening load.
inline constexpr std::int64_t half_lanes = lanes / 2;
using HalfVec __attribute__((vector_size(sizeof(float) * half_lanes))) = float;
using DoubleVec __attribute__((vector_size(sizeof(double) * half_lanes))) = double;

/// Squares added up in several vectors, so that one addition need not wait for the one before.
class SquareSum {
  public:
    static constexpr int unroll = 8;
    static constexpr std::int64_t width = unroll * half_lanes;

    /// Adds `count` half vectors from x on to the sums from `first` on.
    template <int first = 0, int count = unroll>
    void add(const float* x) {
        static_assert(first + count <= unroll);
#pragma GCC unroll 8
        for (int u = 0; u < count; ++u) {
            HalfVec narrow;
            __builtin_memcpy(&narrow, x + u * half_lanes, sizeof narrow);
            const DoubleVec value = __builtin_convertvector(narrow, DoubleVec);
            sums_[first + u] += value * value;
        }
    }
    void add_one(float x) { rest_ += static_cast<double>(x) * static_cast<double>(x); }

    double total() const {
        const DoubleVec all =
            ((sums_[0] + sums_[1]) + (sums_[2] + sums_[3])) + ((sums_[4] + sums_[5]) + (sums_[6] + sums_[7]));
        double total = rest_;
        for (std::int64_t lane = 0; lane < half_lanes; ++lane) total += all[lane];
        return total;
    }

  private:
    DoubleVec sums_[unroll] = {};
    double rest_ = 0;
};

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
