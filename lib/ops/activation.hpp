#pragma once

#include <string>

#include "graph/op_def.hpp"
#include "kernels/gemm/gemm.hpp"

namespace causeway::ops {

/// The kernel's activation for the attribute "activation": HuggingFace's "gelu" (erf), "gelu_new" (tanh), "silu" and
/// "relu", or "none". Throws GraphError for any other name.
kernels::Activation activation_of(const Attributes& attributes);

}  // namespace causeway::ops
