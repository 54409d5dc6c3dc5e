#pragma once

#include <cstdint>

namespace causeway::kernels {

/// One AdamW update (Loshchilov, Hutter 2019, algorithm 2; PyTorch's order of operations) of elements [begin, end):
///   g = grad_scale * grad; m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
///   p = p (1 - lr weight_decay) - lr (m / bias1) / (sqrt(v / bias2) + eps), bias_i = 1 - beta_i^step.
/// Moments that fall below the smallest normal number may become 0.
template <class T>
struct AdamWArgs {
    T* param = nullptr;
    const T* grad = nullptr;
    T* m = nullptr;
    T* v = nullptr;
    double learning_rate = 0;
    double beta1 = 0.9;
    double beta2 = 0.999;
    double eps = 1e-8;
    double weight_decay = 0;
    double bias1 = 1;       ///< 1 - beta1^step
    double bias2 = 1;       ///< 1 - beta2^step
    double grad_scale = 1;  ///< clip factor / valid tokens
};

}  // namespace causeway::kernels
