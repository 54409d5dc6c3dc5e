#pragma once

#include <cstdint>

#include "kernels/optimizer/adamw.hpp"
#include "kernels/optimizer/sgd.hpp"

namespace causeway::kernels {

template <class T>
struct OptimizerKernels {
    void (*adamw)(const AdamWArgs<T>& args, std::int64_t begin, std::int64_t end);
    void (*sgd)(const SgdArgs<T>& args, std::int64_t begin, std::int64_t end);
    /// Sum of squares of x[begin, end) in double; overflows of float squares cannot happen, NaN and inf come through.
    double (*square_sum)(const T* x, std::int64_t begin, std::int64_t end);
};

}  // namespace causeway::kernels
