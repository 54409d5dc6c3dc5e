#include "kernels/arch.hpp"
#include "kernels/families.hpp"
#include "kernels/square_sum.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

/// The update's scalars, prepared in double once a call.
struct Scalars {
    explicit Scalars(const AdamWArgs<float>& args)
        : grad_scale(static_cast<float>(args.grad_scale)),
          beta1(static_cast<float>(args.beta1)),
          beta2(static_cast<float>(args.beta2)),
          one_minus_beta1(static_cast<float>(1 - args.beta1)),
          one_minus_beta2(static_cast<float>(1 - args.beta2)),
          decay(static_cast<float>(1 - args.learning_rate * args.weight_decay)),
          minus_step(static_cast<float>(-args.learning_rate / args.bias1)),
          inverse_root_bias2(static_cast<float>(1 / __builtin_sqrt(args.bias2))),
          eps(static_cast<float>(args.eps)) {}

    Vec grad_scale, beta1, beta2, one_minus_beta1, one_minus_beta2, decay, minus_step, inverse_root_bias2, eps;
};

struct State {
    Vec param, m, v;
};

State update(const Scalars& s, Vec param, Vec grad, Vec m, Vec v) {
    const Vec g = grad * s.grad_scale;
    m = xsimd::fma(s.one_minus_beta1, g, s.beta1 * m);
    // (1 - beta2) g first: g^2 alone overflows for g above 2^64.
    v = xsimd::fma(s.one_minus_beta2 * g, g, s.beta2 * v);
    const Vec denominator = xsimd::fma(xsimd::sqrt(v), s.inverse_root_bias2, s.eps);
    return {xsimd::fma(s.minus_step, m / denominator, param * s.decay), m, v};
}

void adamw(const AdamWArgs<float>& args, std::int64_t begin, std::int64_t end) {
    const Scalars scalars(args);
    std::int64_t i = begin;
    for (; i + lanes <= end; i += lanes) {
        const State next =
            update(scalars, load(args.param + i), load(args.grad + i), load(args.m + i), load(args.v + i));
        store(args.param + i, next.param);
        store(args.m + i, next.m);
        store(args.v + i, next.v);
    }
    if (i < end) {
        const std::int64_t n = end - i;
        const State next = update(scalars, load_partial(args.param + i, n), load_partial(args.grad + i, n),
                                  load_partial(args.m + i, n), load_partial(args.v + i, n));
        store_partial(args.param + i, next.param, n);
        store_partial(args.m + i, next.m, n);
        store_partial(args.v + i, next.v, n);
    }
}

double square_sum(const float* x, std::int64_t begin, std::int64_t end) {
    SquareSum sum;
    std::int64_t i = begin;
    for (; i + SquareSum::width <= end; i += SquareSum::width) sum.add(x + i);
    for (; i < end; ++i) sum.add_one(x[i]);
    return sum.total();
}

}  // namespace

void add_optimizer(KernelTable<float>& table) {
    table.optimizer.adamw = adamw;
    table.optimizer.square_sum = square_sum;
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
