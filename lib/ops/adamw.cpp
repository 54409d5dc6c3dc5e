#include <fmt/format.h>

#include <cmath>

#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// Adam with decoupled weight decay (Loshchilov, Hutter 2019, algorithm 2). The gradient of the sum of losses becomes
// that of the mean, clipped to max_grad_norm, by one factor: min(1, max / (norm + 1e-6)) / valid tokens, norm that of
// the mean.

namespace causeway::ops {
namespace {

enum Input : std::size_t { param_input, gradient_input, m_input, v_input, norm_input };

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const TensorDesc& param = input_desc(graph, node, param_input);
    for (std::size_t i : {gradient_input, m_input, v_input}) {
        require(input_desc(graph, node, i).shape == param.shape,
                fmt::format("input {} is {}, the parameter {}", i, shape_text(graph, node, i),
                            shape_text(graph, node, param_input)));
    }
    return {{"", param, Role::parameter, param_input},
            {"m", param, Role::state, m_input},
            {"v", param, Role::state, v_input}};
}

Cost cost(const Graph& graph, const Node& node) {
    const double elements = static_cast<double>(graph.shape(node.input(param_input)).elements());
    return {14 * elements, 7 * static_cast<double>(graph.value(node.input(param_input)).desc.bytes())};
}

/// What multiplies the summed gradient; NaN when the norm is not finite, and the update is then left out.
double gradient_scale(double summed_norm, double valid_tokens, double max_norm) {
    const double norm = summed_norm / valid_tokens;
    if (!std::isfinite(norm)) return std::nan("");
    const double clip = max_norm > 0 ? std::min(1.0, max_norm / (norm + 1e-6)) : 1.0;
    return clip / valid_tokens;
}

void lower(LowerContext& context) {
    const Attributes& attributes = context.attributes();
    const double beta1 = attributes.get<double>("beta1"), beta2 = attributes.get<double>("beta2"),
                 eps = attributes.get<double>("eps"), weight_decay = attributes.get<double>("weight_decay"),
                 max_norm = attributes.get<double>("max_grad_norm");
    const Cut cut = cut_elements(context.in_shape(param_input).elements());
    const BufferRef param = context.in(param_input), gradient = context.in(gradient_input), m = context.in(m_input),
                    v = context.in(v_input), norm = context.in(norm_input);
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        const auto kernel = table.optimizer.adamw;
        context.stage(
            "", cut.tiles(), cost(context.graph(), context.node()),
            [=](const RunContext& run, std::int64_t begin, std::int64_t end) {
                const double scale = gradient_scale(*run.at<const double>(norm), run.args.valid_tokens, max_norm);
                if (std::isnan(scale)) return;
                const double step = static_cast<double>(run.args.step);
                kernel({run.at<T>(param), run.at<const T>(gradient), run.at<T>(m), run.at<T>(v), run.args.learning_rate,
                        beta1, beta2, eps, weight_decay, 1 - std::pow(beta1, step), 1 - std::pow(beta2, step), scale},
                       cut.begin(begin), cut.begin(end));
            });
    });
}

}  // namespace

const OpDef& adamw() {
    static const OpDef def{"adamw", "AdamW update of one parameter, in place", infer, nullptr, cost, nullptr, lower};
    return def;
}

}  // namespace causeway::ops
