#include "kernels/arch.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

/// The update's scalars, rounded once a call.
struct Scalars {
    explicit Scalars(const SgdArgs<float>& args)
        : grad_scale(static_cast<float>(args.grad_scale)),
          weight_decay(static_cast<float>(args.weight_decay)),
          momentum(static_cast<float>(args.momentum)),
          minus_rate(static_cast<float>(-args.learning_rate)) {}

    Vec grad_scale, weight_decay, momentum, minus_rate;
};

Vec decayed_gradient(const Scalars& s, Vec param, Vec grad) {
    return xsimd::fma(s.weight_decay, param, s.grad_scale * grad);
}

void without_momentum(const SgdArgs<float>& args, std::int64_t begin, std::int64_t end) {
    const Scalars s(args);
    std::int64_t i = begin;
    for (; i + lanes <= end; i += lanes) {
        const Vec param = load(args.param + i);
        store(args.param + i, xsimd::fma(s.minus_rate, decayed_gradient(s, param, load(args.grad + i)), param));
    }
    if (i < end) {
        const std::int64_t n = end - i;
        const Vec param = load_partial(args.param + i, n);
        const Vec g = decayed_gradient(s, param, load_partial(args.grad + i, n));
        store_partial(args.param + i, xsimd::fma(s.minus_rate, g, param), n);
    }
}

void with_momentum(const SgdArgs<float>& args, std::int64_t begin, std::int64_t end) {
    const Scalars s(args);
    std::int64_t i = begin;
    for (; i + lanes <= end; i += lanes) {
        const Vec param = load(args.param + i);
        const Vec m = xsimd::fma(s.momentum, load(args.m + i), decayed_gradient(s, param, load(args.grad + i)));
        store(args.m + i, m);
        store(args.param + i, xsimd::fma(s.minus_rate, m, param));
    }
    if (i < end) {
        const std::int64_t n = end - i;
        const Vec param = load_partial(args.param + i, n);
        const Vec g = decayed_gradient(s, param, load_partial(args.grad + i, n));
        const Vec m = xsimd::fma(s.momentum, load_partial(args.m + i, n), g);
        store_partial(args.m + i, m, n);
        store_partial(args.param + i, xsimd::fma(s.minus_rate, m, param), n);
    }
}

void sgd(const SgdArgs<float>& args, std::int64_t begin, std::int64_t end) {
    args.m != nullptr ? with_momentum(args, begin, end) : without_momentum(args, begin, end);
}

}  // namespace

void add_sgd(KernelTable<float>& table) { table.optimizer.sgd = sgd; }

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
