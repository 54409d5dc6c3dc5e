#include "kernels/arch.hpp"
#include "kernels/families.hpp"

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

/// Half a vector of floats and the same in double: xsimd 8.1 has no widening load.
constexpr std::int64_t half = lanes / 2;
using HalfVec __attribute__((vector_size(sizeof(float) * half))) = float;
using DoubleVec __attribute__((vector_size(sizeof(double) * half))) = double;

DoubleVec load_wide(const float* from) {
    HalfVec narrow;
    __builtin_memcpy(&narrow, from, sizeof narrow);
    return __builtin_convertvector(narrow, DoubleVec);
}

double sum_squares(const float* x, std::int64_t begin, std::int64_t end) {
    constexpr int unroll = 8;
    DoubleVec sum[unroll] = {};
    std::int64_t i = begin;
    for (; i + unroll * half <= end; i += unroll * half) {
#pragma GCC unroll 8
        for (int u = 0; u < unroll; ++u) {
            const DoubleVec value = load_wide(x + i + u * half);
            sum[u] += value * value;
        }
    }
    const DoubleVec all = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
    double total = 0;
    for (std::int64_t lane = 0; lane < half; ++lane) total += all[lane];
    for (; i < end; ++i) total += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    return total;
}

}  // namespace

void add_optimizer(KernelTable<float>& table) {
    table.optimizer.adamw = adamw;
    table.optimizer.sum_squares = sum_squares;
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
