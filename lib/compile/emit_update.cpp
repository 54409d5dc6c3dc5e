#include "compile/passes.hpp"
#include "ops/ops.hpp"

namespace causeway {
namespace {

/// A parameter with its finished gradient.
struct Learned {
    ValueId parameter;
    ValueId gradient;
};

/// Pairs each trainable parameter with the newest version of its gradient, in backward's order.
std::vector<Learned> learned_parameters(const Graph& graph) {
    std::vector<Learned> learned;
    for (ValueId slot : graph.with_role(Role::gradient)) {
        const std::string& name = graph.value(slot).name;
        Learned entry{graph.find(name.substr(0, name.size() - std::string_view(".grad").size())), slot};
        for (std::int32_t i = slot.index; i < static_cast<std::int32_t>(graph.values().size()); ++i) {
            if (graph.storage_of({i}) == slot) entry.gradient = {i};
        }
        learned.push_back(entry);
    }
    return learned;
}

ValueId add_moment(Graph& graph, ValueId parameter, const char* suffix) {
    Value moment;
    moment.name = graph.value(parameter).name + suffix;
    moment.desc = graph.value(parameter).desc;
    moment.role = Role::state;
    return graph.add_value(std::move(moment));
}

}  // namespace

Graph emit_update(Graph graph, const TrainConfig& train) {
    const std::vector<Learned> learned = learned_parameters(graph);
    std::vector<ValueId> partial_sums;
    for (const Learned& entry : learned) {
        const std::string name = graph.value(entry.parameter).name + ".square_sum";
        partial_sums.push_back(graph.emit(ops::square_sum(), name, {entry.gradient}, {}, Phase::update));
    }
    const ValueId norm = graph.emit(ops::global_norm(), "grad_norm", partial_sums, {}, Phase::update);
    const ValueId factors =
        graph.emit(ops::update_factors(), "update_factors", {norm},
                   {{"beta1", train.adam_beta1}, {"beta2", train.adam_beta2}, {"max_grad_norm", train.max_grad_norm}},
                   Phase::update);
    for (const Learned& entry : learned) {
        const bool decays = graph.shape(entry.parameter).rank() >= 2;
        const ValueId m = add_moment(graph, entry.parameter, ".m"), v = add_moment(graph, entry.parameter, ".v");
        graph.emit(ops::adamw(), graph.value(entry.parameter).name + ".adamw",
                   {entry.parameter, entry.gradient, m, v, factors},
                   {{"beta1", train.adam_beta1},
                    {"beta2", train.adam_beta2},
                    {"eps", train.adam_epsilon},
                    {"weight_decay", decays ? train.weight_decay : 0.0}},
                   Phase::update);
    }
    return graph;
}

}  // namespace causeway
