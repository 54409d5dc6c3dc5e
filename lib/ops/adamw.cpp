#include <array>

#include "ops/lowering.hpp"
#include "ops/ops.hpp"
#include "ops/parameter_update.hpp"

// Adam with decoupled weight decay (Loshchilov, Hutter 2019, algorithm 2).

namespace causeway::ops {
namespace {

constexpr std::array<const char*, 2> states{"m", "v"};
constexpr std::size_t m_input = update_first_state, v_input = update_first_state + 1;

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    input_desc(graph, node, m_input);
    input_desc(graph, node, v_input);
    return infer_update(graph, node, states);
}

Cost cost(const Graph& graph, const Node& node) { return update_cost(graph, node, 14); }

void lower(LowerContext& context) {
    const Attributes& attributes = context.attributes();
    const double beta1 = attributes.get<double>("beta1"), beta2 = attributes.get<double>("beta2"),
                 eps = attributes.get<double>("eps"), weight_decay = attributes.get<double>("weight_decay");
    const BufferRef param = context.in(update_param), gradient = context.in(update_gradient), m = context.in(m_input),
                    v = context.in(v_input);
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        lower_update(context, table, UpdateTiles(context), cost(context.graph(), context.node()), table.optimizer.adamw,
                     [=](const RunContext& run, const double* factor) {
                         return kernels::AdamWArgs<T>{run.at<T>(param),
                                                      run.at<const T>(gradient),
                                                      run.at<T>(m),
                                                      run.at<T>(v),
                                                      run.args.learning_rate,
                                                      beta1,
                                                      beta2,
                                                      eps,
                                                      weight_decay,
                                                      factor[update_bias1],
                                                      factor[update_bias2],
                                                      factor[update_scale]};
                     });
    });
}

}  // namespace

const OpDef& adamw() {
    static const OpDef def{.name = "adamw",
                           .summary = "AdamW update of one parameter and its packed copy, in place",
                           .infer = infer,
                           .cost = cost,
                           .lower = lower,
                           .renewed_copy_input = update_packed};
    return def;
}

}  // namespace causeway::ops
