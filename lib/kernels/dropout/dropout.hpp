#pragma once

#include <cstdint>

namespace causeway::kernels {

/// Which elements of a tensor (rows, heads, queries, columns) are dropped (Srivastava et al. 2014). The mask is never
/// stored: element (r, h, q, c) has word 2 ((c % 32) / 16) + c % 2 of Philox4x32-10 with the counter
/// {c / 32 * 8 + (c % 16) / 2, q, h, first_row + r} and is dropped when that is below the threshold; what is kept is
/// multiplied with `scale`. So the mask does not depend on tiles, paths, threads or how a batch is cut.
struct DropoutMask {
    std::uint32_t key[2] = {0, 0};
    std::uint32_t threshold = 0;  ///< 0: nothing is dropped
    double scale = 1;             ///< 1 / (1 - rate); 0 when the rate is 1
    std::uint32_t first_row = 0;  ///< global number of row 0: of the first sequence of this micro-batch

    explicit operator bool() const { return threshold != 0; }
};

/// The mask of a dropout site at a step: its Philox key is drawn from (seed, step, site). 0 <= rate <= 1, rounded to a
/// multiple of 2^-32.
DropoutMask dropout_mask(double rate, std::uint64_t seed, std::int64_t step, std::int64_t site, std::int64_t first_row);

template <class T>
struct DropoutKernels {
    /// y = x o Z with the factors Z of the mask, 0 or scale; x, y (B,T,D), rows [row_begin, row_end) of B * T: row r is
    /// query r % length of sequence r / length, head 0. y may be x. The gradient is the same map of dy.
    void (*apply)(const DropoutMask& mask, const T* x, T* y, std::int64_t length, std::int64_t cols,
                  std::int64_t row_begin, std::int64_t row_end);
};

}  // namespace causeway::kernels
