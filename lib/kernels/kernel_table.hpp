#pragma once

#include "base/isa_kind.hpp"
#include "kernels/attention/attention.hpp"
#include "kernels/attention/softmax.hpp"
#include "kernels/dropout/dropout.hpp"
#include "kernels/elementwise/elementwise.hpp"
#include "kernels/elementwise/gated.hpp"
#include "kernels/embedding/embedding.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/loss/cross_entropy.hpp"
#include "kernels/moe/permute.hpp"
#include "kernels/moe/route.hpp"
#include "kernels/norm/layernorm.hpp"
#include "kernels/norm/rmsnorm.hpp"
#include "kernels/optimizer/optimizer.hpp"
#include "kernels/probe/probe.hpp"
#include "kernels/rope/rope.hpp"

namespace causeway::kernels {

/// Every kernel of one instruction set for element type T. A plan keeps a pointer to the table it was compiled with.
template <class T>
struct KernelTable {
    Isa isa = Isa::reference;
    GemmKernels<T> gemm{};
    AttentionKernels<T> attention{};
    SoftmaxKernels<T> softmax{};
    DropoutKernels<T> dropout{};
    NormKernels<T> norm{};
    RmsNormKernels<T> rmsnorm{};
    RopeKernels<T> rope{};
    EmbeddingKernels<T> embedding{};
    ElementwiseKernels<T> elementwise{};
    GatedKernels<T> gated{};
    RouteKernels<T> route{};
    PermuteKernels<T> permute{};
    CrossEntropyKernels<T> cross_entropy{};
    OptimizerKernels<T> optimizer{};
    ProbeKernels<T> probe{};
};

/// The float kernels of an instruction set. Throws CapacityError when the CPU or this build lacks it.
const KernelTable<float>& kernel_table(Isa isa);

/// The plain-loop kernels, also in double, which gradient checks run on.
template <class T>
const KernelTable<T>& reference_table();

}  // namespace causeway::kernels
