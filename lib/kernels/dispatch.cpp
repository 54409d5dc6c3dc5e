#include "base/format.hpp"
#include "base/isa.hpp"
#include "causeway/error.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels {

#if defined(__x86_64__)
namespace sse2 {
void fill_table(KernelTable<float>& table);
}
namespace avx2 {
void fill_table(KernelTable<float>& table);
}
namespace avx512 {
void fill_table(KernelTable<float>& table);
}
#elif defined(__aarch64__)
namespace neon {
void fill_table(KernelTable<float>& table);
}
#endif

namespace {

template <class T>
KernelTable<T> make_reference() {
    KernelTable<T> table;
    reference::add_gemm(table);
    reference::add_attention(table);
    reference::add_explicit_attention(table);
    reference::add_softmax(table);
    reference::add_dropout(table);
    reference::add_layernorm(table);
    reference::add_rmsnorm(table);
    reference::add_rope(table);
    reference::add_embedding(table);
    reference::add_elementwise(table);
    reference::add_gated(table);
    reference::add_route(table);
    reference::add_permute(table);
    reference::add_cross_entropy(table);
    reference::add_optimizer(table);
    reference::add_sgd(table);
    reference::add_probe(table);
    return table;
}

using Fill = void (*)(KernelTable<float>&);

template <Fill fill>
const KernelTable<float>& filled() {
    static const KernelTable<float> table = [] {
        KernelTable<float> made;
        fill(made);
        return made;
    }();
    return table;
}

}  // namespace

template <class T>
const KernelTable<T>& reference_table() {
    static const KernelTable<T> table = make_reference<T>();
    return table;
}
template const KernelTable<float>& reference_table();
template const KernelTable<double>& reference_table();

const KernelTable<float>& kernel_table(Isa isa) {
    if (!isa_available(isa)) {
        throw CapacityError(fmt::format("this CPU cannot run instruction set '{}'", to_string(isa)));
    }
#if defined(__x86_64__)
    if (isa == Isa::sse2) return filled<sse2::fill_table>();
    if (isa == Isa::avx2) return filled<avx2::fill_table>();
    if (isa == Isa::avx512) return filled<avx512::fill_table>();
#elif defined(__aarch64__)
    if (isa == Isa::neon) return filled<neon::fill_table>();
#endif
    return reference_table<float>();
}

}  // namespace causeway::kernels
