#include "kernels/dropout/dropout_ref.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

template <class T>
void apply(const DropoutMask& mask, const T* x, T* y, std::int64_t length, std::int64_t cols, std::int64_t row_begin,
           std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        for (std::int64_t c = 0; c < cols; ++c) {
            const double factor = dropout_factor(mask, r / length, 0, r % length, c);
            y[r * cols + c] = x[r * cols + c] * static_cast<T>(factor);
        }
    }
}

}  // namespace

template <class T>
void add_dropout(KernelTable<T>& table) {
    table.dropout.apply = apply<T>;
}
template void add_dropout(KernelTable<float>& table);
template void add_dropout(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
