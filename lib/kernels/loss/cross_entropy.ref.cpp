#include <algorithm>
#include <cmath>

#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

/// log(sum exp(logits)) of one row.
template <class T>
double log_sum_exp(const T* logits, std::int64_t vocab) {
    const double max = static_cast<double>(*std::max_element(logits, logits + vocab));
    double sum = 0;
    for (std::int64_t v = 0; v < vocab; ++v) sum += std::exp(static_cast<double>(logits[v]) - max);
    return max + std::log(sum);
}

template <class T>
void forward(const CrossEntropyArgs<T>& args, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const T* logits = args.logits + r * args.ld;
        const std::int32_t target = args.targets[r];
        args.loss[r] =
            target == ignore_index ? 0.0 : log_sum_exp(logits, args.vocab) - static_cast<double>(logits[target]);
    }
}

template <class T>
void forward_backward(const CrossEntropyArgs<T>& args, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        T* logits = args.logits + r * args.ld;
        const std::int32_t target = args.targets[r];
        if (target == ignore_index) {
            args.loss[r] = 0;
            std::fill(logits, logits + args.vocab, T{0});
            continue;
        }
        const double lse = log_sum_exp(logits, args.vocab);
        args.loss[r] = lse - static_cast<double>(logits[target]);
        for (std::int64_t v = 0; v < args.vocab; ++v) {
            const double probability = std::exp(static_cast<double>(logits[v]) - lse);
            logits[v] = static_cast<T>(v == target ? probability - 1 : probability);
        }
    }
}

}  // namespace

template <class T>
void add_cross_entropy(KernelTable<T>& table) {
    table.cross_entropy.forward = forward<T>;
    table.cross_entropy.forward_backward = forward_backward<T>;
}
template void add_cross_entropy(KernelTable<float>& table);
template void add_cross_entropy(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
