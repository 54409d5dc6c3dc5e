#pragma once

#include <cstdint>

namespace causeway::kernels {

/// One update of stochastic gradient descent with momentum (PyTorch's SGD with dampening 0, no Nesterov) of elements
/// [begin, end):
///   g = grad_scale * grad + weight_decay p;  m = momentum m + g;  p = p - lr m.
/// Weight decay is a part of the gradient (L2), so momentum carries it on. m starts at 0: the first step's m is g.
/// Where m is null there is no momentum: p = p - lr g. An m that falls below the smallest normal number may become 0.
template <class T>
struct SgdArgs {
    T* param = nullptr;
    const T* grad = nullptr;
    T* m = nullptr;  ///< null: without momentum
    double learning_rate = 0;
    double momentum = 0;
    double weight_decay = 0;
    double grad_scale = 1;  ///< clip factor / valid tokens
};

}  // namespace causeway::kernels
