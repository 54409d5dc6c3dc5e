#include <cmath>

#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

template <class T>
void adamw(const AdamWArgs<T>& args, std::int64_t begin, std::int64_t end) {
    const auto beta1 = static_cast<T>(args.beta1);
    const auto beta2 = static_cast<T>(args.beta2);
    const auto one_minus_beta1 = static_cast<T>(1 - args.beta1);
    const auto one_minus_beta2 = static_cast<T>(1 - args.beta2);
    const auto decay = static_cast<T>(1 - args.learning_rate * args.weight_decay);
    const auto step = static_cast<T>(args.learning_rate / args.bias1);
    const auto inverse_root_bias2 = static_cast<T>(1 / std::sqrt(args.bias2));
    for (std::int64_t i = begin; i < end; ++i) {
        const T g = static_cast<T>(args.grad_scale) * args.grad[i];
        const T m = args.m[i] = beta1 * args.m[i] + one_minus_beta1 * g;
        const T v = args.v[i] = beta2 * args.v[i] + one_minus_beta2 * g * g;
        args.param[i] =
            args.param[i] * decay - step * m / (std::sqrt(v) * inverse_root_bias2 + static_cast<T>(args.eps));
    }
}

template <class T>
double square_sum(const T* x, std::int64_t begin, std::int64_t end) {
    double sum = 0;
    for (std::int64_t i = begin; i < end; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    return sum;
}

}  // namespace

template <class T>
void add_optimizer(KernelTable<T>& table) {
    table.optimizer.adamw = adamw<T>;
    table.optimizer.square_sum = square_sum<T>;
}
template void add_optimizer(KernelTable<float>& table);
template void add_optimizer(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
