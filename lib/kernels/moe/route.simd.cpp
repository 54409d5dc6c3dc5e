#include "kernels/arch.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

/// The largest scores seen so far in a row, in order; those of the same size stay in the order they came.
struct Best {
    float* weights;
    std::int32_t* experts;
    std::int64_t choices;
    std::int64_t count = 0;

    /// What a score must exceed to come in, once the list is full.
    float last() const { return weights[choices - 1]; }

    void offer(float score, std::int32_t expert) {
        std::int64_t at = count;
        if (count < choices) {
            ++count;
        } else {
            if (!(score > last())) return;
            at = choices - 1;
        }
        for (; at > 0 && score > weights[at - 1]; --at) {
            weights[at] = weights[at - 1];
            experts[at] = experts[at - 1];
        }
        weights[at] = score;
        experts[at] = expert;
    }
};

/// Many experts are passed over a vector at a time: few of the later ones are among the best.
void choose_row(const float* scores, std::int64_t expert_count, Best best) {
    std::int64_t e = 0;
    for (; e < best.choices; ++e) best.offer(scores[e], static_cast<std::int32_t>(e));
    for (; e + lanes <= expert_count; e += lanes) {
        if (!xsimd::any(load(scores + e) > Vec(best.last()))) continue;
        for (std::int64_t i = e; i < e + lanes; ++i) best.offer(scores[i], static_cast<std::int32_t>(i));
    }
    for (; e < expert_count; ++e) best.offer(scores[e], static_cast<std::int32_t>(e));
}

void choose(const RouteArgs<float>& args, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        float* weights = args.weights + r * args.choices;
        choose_row(args.scores + r * args.expert_count, args.expert_count,
                   {weights, args.experts + r * args.choices, args.choices});
        if (!args.normalize) continue;
        float sum = 0;
        for (std::int64_t j = 0; j < args.choices; ++j) sum += weights[j];
        for (std::int64_t j = 0; j < args.choices; ++j) weights[j] /= sum;
    }
}

/// dscores = dscore_sums, or zeros.
void begin_row(const float* dscore_sums, float* dscores, std::int64_t expert_count) {
    std::int64_t e = 0;
    for (; e + lanes <= expert_count; e += lanes) {
        store(dscores + e, dscore_sums ? load(dscore_sums + e) : Vec(0.0f));
    }
    if (e < expert_count) {
        const std::int64_t n = expert_count - e;
        store_partial(dscores + e, dscore_sums ? load_partial(dscore_sums + e, n) : Vec(0.0f), n);
    }
}

void backward(const RouteBackwardArgs<float>& args, std::int64_t row_begin, std::int64_t row_end) {
    for (std::int64_t r = row_begin; r < row_end; ++r) {
        const float* scores = args.scores + r * args.expert_count;
        const float* weights = args.weights + r * args.choices;
        const float* dweights = args.dweights + r * args.choices;
        const std::int32_t* experts = args.experts + r * args.choices;
        float* dscores = args.dscores + r * args.expert_count;
        begin_row(args.dscore_sums, dscores, args.expert_count);
        float shift = 0, factor = 1;
        if (args.normalize) {
            float sum = 0;
            for (std::int64_t j = 0; j < args.choices; ++j) {
                sum += scores[experts[j]];
                shift += weights[j] * dweights[j];
            }
            factor = 1 / sum;
        }
        for (std::int64_t j = 0; j < args.choices; ++j) dscores[experts[j]] += (dweights[j] - shift) * factor;
    }
}

}  // namespace

void add_route(KernelTable<float>& table) {
    table.route.choose = choose;
    table.route.backward = backward;
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
