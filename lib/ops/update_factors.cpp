#include "plan/update_factors.hpp"

#include <cmath>

#include "base/format.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// What every parameter's update needs to know, computed once. The gradient of the sum of losses becomes that of the
// mean, clipped to max_grad_norm, by one factor: min(1, max / (norm + 1e-6)) / valid tokens, norm that of the mean. The
// update is left out when the norm is not finite, is above the run's limit, or is, clipped, above largest_norm: what
// the optimizer keeps would then overflow.

namespace causeway::ops {
namespace {

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& norm = input_desc(graph, node, 0);
    require(norm.dtype == DType::f64 && norm.shape.elements() == 1,
            fmt::format("the norm must be one f64, found {} {}", to_string(norm.dtype), to_string(norm.shape)));
    return {{"", {DType::f64, {update_factor_count}}, Role::result}};
}

Cost cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 1); }

struct NormLimits {
    double clip;     ///< 0: no clipping
    double run;      ///< before clipping
    double largest;  ///< after clipping
};

double gradient_scale(double summed_norm, double valid_tokens, const NormLimits& limits) {
    const double norm = summed_norm / valid_tokens;
    if (!std::isfinite(norm) || norm > limits.run) return std::nan("");
    const double clip = limits.clip > 0 ? std::min(1.0, limits.clip / (norm + 1e-6)) : 1.0;
    return norm * clip > limits.largest ? std::nan("") : clip / valid_tokens;
}

void lower(LowerContext& context) {
    const Attributes& attributes = context.attributes();
    const double beta1 = attributes.get<double>("beta1"), beta2 = attributes.get<double>("beta2"),
                 clip = attributes.get<double>("max_grad_norm"), largest = attributes.get<double>("largest_norm");
    const BufferRef norm = context.in(0), factors = context.out();
    context.stage("", 1, cost(context.graph(), context.node()), [=](const RunContext& run, std::int64_t, std::int64_t) {
        const double step = static_cast<double>(run.args.step);
        double* factor = run.at<double>(factors);
        factor[update_scale] =
            gradient_scale(*run.at<const double>(norm), run.args.valid_tokens, {clip, run.args.norm_limit, largest});
        factor[update_bias1] = 1 - std::pow(beta1, step);
        factor[update_bias2] = 1 - std::pow(beta2, step);
    });
}

}  // namespace

const OpDef& update_factors() {
    static const OpDef def{"update_factors",
                           "clipping, Adam's bias corrections, and whether to update at all",
                           infer,
                           nullptr,
                           cost,
                           nullptr,
                           lower};
    return def;
}

}  // namespace causeway::ops
