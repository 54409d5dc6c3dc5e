#include <array>

#include "ops/lowering.hpp"
#include "ops/ops.hpp"
#include "ops/parameter_update.hpp"

// Stochastic gradient descent, with momentum where a state is given (Sutskever et al. 2013, in PyTorch's form; see
// kernels/optimizer/sgd.hpp).

namespace causeway::ops {
namespace {

constexpr std::array<const char*, 1> states{"m"};

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) { return infer_update(graph, node, states); }

Cost cost(const Graph& graph, const Node& node) { return update_cost(graph, node, 7); }

void lower(LowerContext& context) {
    const Attributes& attributes = context.attributes();
    const double momentum = attributes.get<double>("momentum"), weight_decay = attributes.get<double>("weight_decay");
    const BufferRef param = context.in(update_param), gradient = context.in(update_gradient),
                    m = context.in(update_first_state);
    context.with_table([&]<class T>(const kernels::KernelTable<T>& table) {
        lower_update(
            context, table, UpdateTiles(context), cost(context.graph(), context.node()), table.optimizer.sgd,
            [=](const RunContext& run, const double* factor) {
                return kernels::SgdArgs<T>{
                    run.at<T>(param), run.at<const T>(gradient), run.at<T>(m), run.args.learning_rate, momentum,
                    weight_decay,     factor[update_scale]};
            });
    });
}

}  // namespace

const OpDef& sgd() {
    static const OpDef def{.name = "sgd",
                           .summary = "SGD update of one parameter and its packed copy, in place",
                           .infer = infer,
                           .cost = cost,
                           .lower = lower,
                           .renewed_copy_input = update_packed};
    return def;
}

}  // namespace causeway::ops
