#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/format.hpp"
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

ValueId add_state(Graph& graph, ValueId parameter, const char* suffix) {
    Value state;
    state.name = graph.value(parameter).name + suffix;
    state.desc = graph.value(parameter).desc;
    state.role = Role::state;
    return graph.add_value(std::move(state));
}

/// How the parameters of a graph are updated: the op, its states, and its settings but for the decay.
struct Optimizer {
    const OpDef& op;
    std::vector<const char*> states;
    Attributes attributes;
    double largest_norm;  ///< of the gradient: beyond it what the optimizer keeps in an f32 may overflow
};

constexpr double largest_float = std::numeric_limits<float>::max();

/// Also adam, whose weight decay is 0. The second moment holds squares.
Optimizer adamw(const TrainConfig& train) {
    return {ops::adamw(),
            {".m", ".v"},
            {{"beta1", train.adam_beta1}, {"beta2", train.adam_beta2}, {"eps", train.adam_epsilon}},
            std::sqrt(largest_float)};
}

/// Without momentum there is nothing to keep; with it up to 1 / (1 - momentum) gradients add up.
Optimizer sgd(const TrainConfig& train) {
    std::vector<const char*> states;
    if (train.momentum > 0) states.push_back(".m");
    return {ops::sgd(), std::move(states), {{"momentum", train.momentum}}, largest_float * (1 - train.momentum) / 2};
}

Optimizer optimizer_of(const TrainConfig& train) {
    constexpr std::array<Optimizer (*)(const TrainConfig&), 3> makers{adamw, adamw, sgd};  // by OptimizerKind
    return makers[static_cast<std::size_t>(train.optimizer)](train);
}

/// True when every op of the forward pass that reads the parameter multiplies with it: it is no table that rows are
/// looked up in. A tied embedding is one, though the head multiplies with it too.
bool is_only_multiplied(const Graph& graph, ValueId parameter) {
    for (const Node& node : graph.nodes()) {
        if (node.op->backward == nullptr) continue;  // not of the forward pass
        const std::vector<WeightUse> uses =
            node.op->weights != nullptr ? node.op->weights(graph, node) : std::vector<WeightUse>{};
        for (std::size_t i = 0; i < node.inputs.size(); ++i) {
            const bool multiplied = std::ranges::find(uses, i, &WeightUse::weight_input) != uses.end();
            if (node.inputs[i] == parameter && !multiplied) return false;
        }
    }
    return true;
}

bool is_matrix(const Graph& graph, ValueId parameter) { return graph.shape(parameter).rank() >= 2; }

bool decays(const Graph& graph, ValueId parameter, DecayScope scope) {
    using Rule = bool (*)(const Graph&, ValueId);
    constexpr std::array<Rule, 3> rules{
        is_matrix,
        [](const Graph& of, ValueId value) { return is_matrix(of, value) && is_only_multiplied(of, value); },
        [](const Graph&, ValueId) { return true; },
    };  // by DecayScope
    return rules[static_cast<std::size_t>(scope)](graph, parameter);
}

/// The norm of all gradients, and what every update needs to know of it.
ValueId emit_factors(Graph& graph, const TrainConfig& train, const std::vector<Learned>& learned, double largest_norm) {
    std::vector<ValueId> partial_sums;
    for (const Learned& entry : learned) {
        const std::string name = graph.value(entry.parameter).name + ".square_sum";
        partial_sums.push_back(graph.emit(ops::square_sum(), name, {entry.gradient}, {}, Phase::update));
    }
    const ValueId norm = graph.emit(ops::global_norm(), "grad_norm", partial_sums, {}, Phase::update);
    return graph.emit(ops::update_factors(), "update_factors", {norm},
                      {{"beta1", train.adam_beta1},
                       {"beta2", train.adam_beta2},
                       {"max_grad_norm", train.max_grad_norm},
                       {"largest_norm", largest_norm}},
                      Phase::update);
}

}  // namespace

Graph emit_update(Graph graph, const TrainConfig& train) {
    const Optimizer optimizer = optimizer_of(train);
    const std::vector<Learned> learned = learned_parameters(graph);
    const ValueId factors = emit_factors(graph, train, learned, optimizer.largest_norm);
    for (const Learned& entry : learned) {
        std::vector<ValueId> inputs{entry.parameter, entry.gradient, factors, {}};  // no packed copy yet
        for (const char* suffix : optimizer.states) inputs.push_back(add_state(graph, entry.parameter, suffix));
        Attributes attributes = optimizer.attributes;
        attributes.set("weight_decay",
                       decays(graph, entry.parameter, train.weight_decay_scope) ? train.weight_decay : 0.0);
        graph.emit(optimizer.op, fmt::format("{}.{}", graph.value(entry.parameter).name, optimizer.op.name),
                   std::move(inputs), std::move(attributes), Phase::update);
    }
    return graph;
}

}  // namespace causeway
