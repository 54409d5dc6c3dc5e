#include "kernels/families.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

/// Compiled once per instruction set: everything of that set in one table.
void fill_table(KernelTable<float>& table) {
    table.isa = Isa::CAUSEWAY_KERNEL_ISA;
    add_gemm(table);
    add_attention(table);
    add_explicit_attention(table);
    add_softmax(table);
    add_dropout(table);
    add_layernorm(table);
    add_rmsnorm(table);
    add_rope(table);
    add_embedding(table);
    add_elementwise(table);
    add_gated(table);
    add_route(table);
    add_permute(table);
    add_cross_entropy(table);
    add_optimizer(table);
    add_sgd(table);
    add_probe(table);
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
