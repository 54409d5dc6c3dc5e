#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

constexpr int chains = 8;

template <class T>
double multiply_add(std::int64_t iterations) {
    T sum[chains];
    for (int c = 0; c < chains; ++c) sum[c] = static_cast<T>(c);
    for (std::int64_t i = 0; i < iterations; ++i) {
        for (int c = 0; c < chains; ++c) sum[c] = sum[c] * static_cast<T>(0.75) + static_cast<T>(1);
    }
    double total = 0;
    for (int c = 0; c < chains; ++c) total += static_cast<double>(sum[c]);
    return total;
}

template <class T>
double read(const T* x, std::int64_t n) {
    double total = 0;
    for (std::int64_t i = 0; i < n; ++i) total += static_cast<double>(x[i]);
    return total;
}

}  // namespace

template <class T>
void add_probe(KernelTable<T>& table) {
    table.probe = {multiply_add<T>, 2 * chains, read<T>};
}
template void add_probe(KernelTable<float>& table);
template void add_probe(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
