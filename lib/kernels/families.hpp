#pragma once

#include "kernels/kernel_table.hpp"

// Which functions fill a KernelTable. Included by the per-ISA sources (CAUSEWAY_KERNEL_ISA is then the ISA's namespace)
// and by the plain-loop twins (namespace reference).

namespace causeway::kernels {

#ifdef CAUSEWAY_KERNEL_ISA
namespace CAUSEWAY_KERNEL_ISA {
void add_gemm(KernelTable<float>& table);
void add_attention(KernelTable<float>& table);
void add_explicit_attention(KernelTable<float>& table);
void add_softmax(KernelTable<float>& table);
void add_dropout(KernelTable<float>& table);
void add_layernorm(KernelTable<float>& table);
void add_rmsnorm(KernelTable<float>& table);
void add_rope(KernelTable<float>& table);
void add_embedding(KernelTable<float>& table);
void add_elementwise(KernelTable<float>& table);
void add_gated(KernelTable<float>& table);
void add_route(KernelTable<float>& table);
void add_permute(KernelTable<float>& table);
void add_cross_entropy(KernelTable<float>& table);
void add_optimizer(KernelTable<float>& table);
void add_sgd(KernelTable<float>& table);
void add_probe(KernelTable<float>& table);
}  // namespace CAUSEWAY_KERNEL_ISA
#endif

namespace reference {
template <class T>
void add_gemm(KernelTable<T>& table);
template <class T>
void add_attention(KernelTable<T>& table);
template <class T>
void add_explicit_attention(KernelTable<T>& table);
template <class T>
void add_softmax(KernelTable<T>& table);
template <class T>
void add_dropout(KernelTable<T>& table);
template <class T>
void add_layernorm(KernelTable<T>& table);
template <class T>
void add_rmsnorm(KernelTable<T>& table);
template <class T>
void add_rope(KernelTable<T>& table);
template <class T>
void add_embedding(KernelTable<T>& table);
template <class T>
void add_elementwise(KernelTable<T>& table);
template <class T>
void add_gated(KernelTable<T>& table);
template <class T>
void add_route(KernelTable<T>& table);
template <class T>
void add_permute(KernelTable<T>& table);
template <class T>
void add_cross_entropy(KernelTable<T>& table);
template <class T>
void add_optimizer(KernelTable<T>& table);
template <class T>
void add_sgd(KernelTable<T>& table);
template <class T>
void add_probe(KernelTable<T>& table);
}  // namespace reference

}  // namespace causeway::kernels
