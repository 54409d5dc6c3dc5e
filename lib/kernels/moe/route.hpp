#pragma once

#include <cstdint>

namespace causeway::kernels {

/// The k largest of each row's scores over E experts, largest first, the lower expert first among equals (Shazeer et
/// al. 2017: "Outrageously Large Neural Networks", equations 3 to 5, without noise). k <= E. A row of NaN gives experts
/// that exist all the same.
template <class T>
struct RouteArgs {
    const T* scores = nullptr;        ///< (rows, E), softmax over all experts
    T* weights = nullptr;             ///< (rows, k): their scores, divided by their sum if `normalize`
    std::int32_t* experts = nullptr;  ///< (rows, k)
    std::int64_t expert_count = 0;    ///< E
    std::int64_t choices = 0;         ///< k
    bool normalize = false;
};

/// The gradient of the scores, which experts were chosen being constant:
///   dscores[r, e] = dscore_sums[e] + (e chosen as j: not normalized dw_j, otherwise (dw_j - sum_i w_i dw_i) / sum of
///   the chosen scores).
template <class T>
struct RouteBackwardArgs {
    const T* dweights = nullptr;            ///< (rows, k)
    const T* scores = nullptr;              ///< (rows, E)
    const T* weights = nullptr;             ///< (rows, k)
    const std::int32_t* experts = nullptr;  ///< (rows, k)
    const T* dscore_sums = nullptr;         ///< (E), of the sums of the scores over all rows; may be null
    T* dscores = nullptr;                   ///< (rows, E)
    std::int64_t expert_count = 0;
    std::int64_t choices = 0;
    bool normalize = false;
};

template <class T>
struct RouteKernels {
    void (*choose)(const RouteArgs<T>& args, std::int64_t row_begin, std::int64_t row_end);
    void (*backward)(const RouteBackwardArgs<T>& args, std::int64_t row_begin, std::int64_t row_end);
};

}  // namespace causeway::kernels
