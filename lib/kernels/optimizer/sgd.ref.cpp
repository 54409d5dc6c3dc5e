#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

template <class T>
void sgd(const SgdArgs<T>& args, std::int64_t begin, std::int64_t end) {
    const auto grad_scale = static_cast<T>(args.grad_scale);
    const auto weight_decay = static_cast<T>(args.weight_decay);
    const auto momentum = static_cast<T>(args.momentum);
    const auto learning_rate = static_cast<T>(args.learning_rate);
    for (std::int64_t i = begin; i < end; ++i) {
        T step = grad_scale * args.grad[i] + weight_decay * args.param[i];
        if (args.m != nullptr) step = args.m[i] = momentum * args.m[i] + step;
        args.param[i] -= learning_rate * step;
    }
}

}  // namespace

template <class T>
void add_sgd(KernelTable<T>& table) {
    table.optimizer.sgd = sgd<T>;
}
template void add_sgd(KernelTable<float>& table);
template void add_sgd(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
