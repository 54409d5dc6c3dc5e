#include <algorithm>

#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

/// The best expert that is not among the first `taken` chosen ones.
template <class T>
std::int32_t best_of_rest(const T* scores, std::int64_t expert_count, const std::int32_t* chosen, std::int64_t taken) {
    std::int32_t best = -1;
    for (std::int32_t e = 0; e < static_cast<std::int32_t>(expert_count); ++e) {
        if (std::find(chosen, chosen + taken, e) != chosen + taken) continue;
        if (best < 0 || scores[e] > scores[best]) best = e;
    }
    return best;
}

template <class T>
void choose(const RouteArgs<T>& args, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const T* scores = args.scores + r * args.expert_count;
        T* weights = args.weights + r * args.choices;
        std::int32_t* experts = args.experts + r * args.choices;
        T sum = 0;
        for (std::int64_t j = 0; j < args.choices; ++j) {
            experts[j] = best_of_rest(scores, args.expert_count, experts, j);
            weights[j] = scores[experts[j]];
            sum += weights[j];
        }
        for (std::int64_t j = 0; args.normalize && j < args.choices; ++j) weights[j] /= sum;
    }
}

template <class T>
void backward(const RouteBackwardArgs<T>& args, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const T* scores = args.scores + r * args.expert_count;
        const T* weights = args.weights + r * args.choices;
        const T* dweights = args.dweights + r * args.choices;
        const std::int32_t* experts = args.experts + r * args.choices;
        T* dscores = args.dscores + r * args.expert_count;
        for (std::int64_t e = 0; e < args.expert_count; ++e) {
            dscores[e] = args.dscore_sums ? args.dscore_sums[e] : T(0);
        }
        T chosen_sum = 0, weighted_sum = 0;
        for (std::int64_t j = 0; j < args.choices; ++j) {
            chosen_sum += scores[experts[j]];
            weighted_sum += weights[j] * dweights[j];
        }
        for (std::int64_t j = 0; j < args.choices; ++j) {
            dscores[experts[j]] += args.normalize ? (dweights[j] - weighted_sum) / chosen_sum : dweights[j];
        }
    }
}

}  // namespace

template <class T>
void add_route(KernelTable<T>& table) {
    table.route.choose = choose<T>;
    table.route.backward = backward<T>;
}
template void add_route(KernelTable<float>& table);
template void add_route(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
