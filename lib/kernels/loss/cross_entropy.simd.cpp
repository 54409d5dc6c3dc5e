#include "kernels/attention/softmax_row.hpp"
#include "kernels/families.hpp"
#include "kernels/vec_math.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

/// Sums kept side by side, so that operations do not wait for each other.
constexpr int unroll = 4;
/// Columns summed in float before they are added to the row's double: short enough that the float sum is good to the
/// last digits, long enough that the double costs nothing.
constexpr std::int64_t block = 64 * lanes;
constexpr float infinity = __builtin_inff();

/// Sum of exp(x - max) over at most `block` columns; the exponentials are kept in place if asked.
template <bool keep>
float block_exp(float* x, std::int64_t n, Vec max) {
    Vec sum[unroll] = {Vec(0.0f), Vec(0.0f), Vec(0.0f), Vec(0.0f)};
    std::int64_t c = 0;
    for (; c + unroll * lanes <= n; c += unroll * lanes) {
#pragma GCC unroll 4
        for (int u = 0; u < unroll; ++u) {
            const Vec e = vexp(load(x + c + u * lanes) - max);
            if (keep) store(x + c + u * lanes, e);
            sum[u] = sum[u] + e;
        }
    }
    for (; c < n; c += lanes) {
        const std::int64_t left = n - c < lanes ? n - c : lanes;
        const Vec e = vexp(load_partial(x + c, left, -infinity) - max);
        if (keep) store_partial(x + c, e, left);
        sum[0] = sum[0] + e;
    }
    return reduce_add((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

template <bool keep>
double row_exp(float* x, std::int64_t vocab, float max) {
    double sum = 0;
    for (std::int64_t c = 0; c < vocab; c += block) {
        sum += static_cast<double>(block_exp<keep>(x + c, vocab - c < block ? vocab - c : block, Vec(max)));
    }
    return sum;
}

void scale_row(float* x, std::int64_t n, float factor) {
    const Vec f(factor);
    std::int64_t c = 0;
#pragma GCC unroll 4
    for (; c + lanes <= n; c += lanes) store(x + c, load(x + c) * f);
    if (c < n) store_partial(x + c, load_partial(x + c, n - c) * f, n - c);
}

void zero_row(float* x, std::int64_t n) {
    for (std::int64_t c = 0; c < n; ++c) x[c] = 0;
}

/// log(sum exp(logits)) - logits[target], with the maximum taken out in double.
double loss_of(double sum, float max, float target_logit) {
    return __builtin_log(sum) + (static_cast<double>(max) - static_cast<double>(target_logit));
}

void forward(const CrossEntropyArgs<float>& args, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const std::int32_t target = args.targets[r];
        if (target == ignore_index) {
            args.loss[r] = 0;
            continue;
        }
        float* logits = args.logits + r * args.ld;
        const float max = row_max(logits, args.vocab);
        args.loss[r] = loss_of(row_exp<false>(logits, args.vocab, max), max, logits[target]);
    }
}

/// Three passes over a row that stays in L2: maximum, exponentials in place, scaling. Each exponential is computed
/// once, which is cheaper than the traffic that two passes would save.
void forward_backward(const CrossEntropyArgs<float>& args, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        float* logits = args.logits + r * args.ld;
        const std::int32_t target = args.targets[r];
        if (target == ignore_index) {
            args.loss[r] = 0;
            zero_row(logits, args.vocab);
            continue;
        }
        const float target_logit = logits[target];
        const float max = row_max(logits, args.vocab);
        const double sum = row_exp<true>(logits, args.vocab, max);
        args.loss[r] = loss_of(sum, max, target_logit);
        scale_row(logits, args.vocab, static_cast<float>(1.0 / sum));
        logits[target] -= 1.0f;
    }
}

}  // namespace

void add_cross_entropy(KernelTable<float>& table) {
    table.cross_entropy.forward = forward;
    table.cross_entropy.forward_backward = forward_backward;
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
