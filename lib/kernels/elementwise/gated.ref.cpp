#include "kernels/elementwise/activation_ref.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

template <class T>
void forward(Activation kind, const T* gate_up, T* y, std::int64_t features, std::int64_t row_begin,
             std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const T* gate = gate_up + r * 2 * features;
        const T* up = gate + features;
        for (std::int64_t c = 0; c < features; ++c) y[r * features + c] = activate(kind, gate[c]) * up[c];
    }
}

template <class T>
void backward(Activation kind, const T* gate_up, const T* dy, T* dgate_up, std::int64_t features,
              std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const std::int64_t at = r * 2 * features;
        for (std::int64_t c = 0; c < features; ++c) {
            const T gate = gate_up[at + c], up = gate_up[at + features + c], d = dy[r * features + c];
            dgate_up[at + c] = d * up * activation_slope(kind, gate);
            dgate_up[at + features + c] = d * activate(kind, gate);
        }
    }
}

}  // namespace

template <class T>
void add_gated(KernelTable<T>& table) {
    table.gated.forward = forward<T>;
    table.gated.backward = backward<T>;
}
template void add_gated(KernelTable<float>& table);
template void add_gated(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
