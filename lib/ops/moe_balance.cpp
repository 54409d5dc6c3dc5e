#include "base/format.hpp"
#include "kernels/loss/cross_entropy.hpp"
#include "ops/lowering.hpp"
#include "ops/ops.hpp"

// The auxiliary loss that balances the experts' load (Fedus, Zoph, Shazeer 2021: "Switch Transformers", equation 4;
// f as in transformers' load_balancing_loss_func and in MiniMind). Of layer l with N tokens, k choices and E experts:
//   f_e = pairs of expert e / N,  P_e = sum over tokens of score e / N;
//   scope layer: aux = sum over l of E sum_e f_e P_e (MiniMind);
//   scope model: aux = E sum_e (mean over l of f_e) (mean over l of P_e) (Qwen3-MoE).
// The objective is the mean of the cross-entropies plus coefficient * aux. Gradients in a plan are of sums, divided by
// the valid tokens with the update: that of aux is therefore multiplied by the valid tokens of the batch. f is
// constant; d(score sums)_e = valid coefficient E f_e / N, with scope model the mean of f_e over the layers, / L.

namespace causeway::ops {
namespace {

constexpr std::size_t first_layer_input = 1;  ///< after the targets, offsets and score sums of each layer

struct Balance {
    std::int64_t tokens, choices, layers, experts;
    bool whole_model;

    Balance(const Attributes& attributes, const Shape& targets, const Shape& load)
        : tokens(targets.elements()),
          choices(attributes.get<std::int64_t>("choices")),
          layers(load[0]),
          experts(load[1]),
          whole_model(attributes.get<std::string>("scope") == "model") {}

    /// f_e of a layer, or the mean over all layers. load (L,E): the layers' shares of pairs.
    double fraction(const double* load, std::int64_t layer, std::int64_t expert) const {
        const double k = static_cast<double>(choices);
        if (!whole_model) return k * load[layer * experts + expert];
        double sum = 0;
        for (std::int64_t l = 0; l < layers; ++l) sum += load[l * experts + expert];
        return k * sum / static_cast<double>(layers);
    }
    /// d aux / d(score sum of an expert in a layer).
    double slope(const double* load, std::int64_t layer, std::int64_t expert) const {
        const double share = static_cast<double>(experts) / static_cast<double>(tokens);
        return fraction(load, layer, expert) * share / (whole_model ? static_cast<double>(layers) : 1.0);
    }
};

std::int64_t layers_of(const Node& node) {
    return static_cast<std::int64_t>(node.inputs.size() - first_layer_input) / 2;
}
std::size_t offsets_input(std::int64_t layer) { return first_layer_input + 2 * static_cast<std::size_t>(layer); }
std::size_t sums_input(std::int64_t layer) { return offsets_input(layer) + 1; }

std::vector<OutputSpec> infer(const Graph& graph, const Node& node) {
    const std::string& scope = node.attributes.get<std::string>("scope");
    require(scope == "layer" || scope == "model", fmt::format("unknown scope '{}' of the auxiliary loss", scope));
    require(input_desc(graph, node, 0).dtype == DType::i32 && layers_of(node) >= 1,
            "the auxiliary loss needs i32 targets and a layer of experts");
    const std::int64_t experts = input_desc(graph, node, sums_input(0)).shape.elements();
    for (std::int64_t l = 0; l < layers_of(node); ++l) {
        require(
            input_desc(graph, node, offsets_input(l)).shape == Shape{experts + 1} &&
                input_desc(graph, node, sums_input(l)).shape == Shape{experts},
            fmt::format("layer {} must have offsets ({}) and score sums ({}), found {} and {}", l, experts + 1, experts,
                        shape_text(graph, node, offsets_input(l)), shape_text(graph, node, sums_input(l))));
    }
    return {{"", {DType::f64, Shape{}}, Role::result},
            {"expert_load", {DType::f64, {layers_of(node), experts}}, Role::result}};
}

Cost cost(const Graph& graph, const Node& node) { return streaming_cost(graph, node, 1); }

void backward(BackwardContext& context) {
    const Node& node = context.node();
    if (node.attributes.get<double>("coefficient") == 0) return;
    std::vector<ValueId> inputs{node.input(0), node.outputs[1]};
    for (std::int64_t l = 0; l < layers_of(node); ++l) inputs.push_back(node.input(sums_input(l)));
    const NodeId id =
        context.graph().add_node(moe_balance_backward(), node.name + ".backward", inputs, node.attributes);
    const std::vector<ValueId> outputs = context.graph().node(id).outputs;
    for (std::int64_t l = 0; l < layers_of(node); ++l) {
        context.give_gradient(sums_input(l), outputs[static_cast<std::size_t>(l)]);
    }
}

void lower(LowerContext& context) {
    const Balance balance(context.attributes(), context.in_shape(0), context.out_shape(1));
    std::vector<BufferRef> offsets, sums;
    for (std::int64_t l = 0; l < balance.layers; ++l) {
        offsets.push_back(context.in(offsets_input(l)));
        sums.push_back(context.in(sums_input(l)));
    }
    const BufferRef aux = context.out(0), load = context.out(1);
    context.with_table([&]<class T>(const kernels::KernelTable<T>&) {
        context.stage("", 1, cost(context.graph(), context.node()),
                      [=](const RunContext& run, std::int64_t, std::int64_t) {
                          double* shares = run.at<double>(load);
                          const double pairs = static_cast<double>(balance.tokens * balance.choices);
                          for (std::int64_t l = 0; l < balance.layers; ++l) {
                              const auto* at = run.at<const std::int32_t>(offsets[static_cast<std::size_t>(l)]);
                              for (std::int64_t e = 0; e < balance.experts; ++e) {
                                  shares[l * balance.experts + e] = static_cast<double>(at[e + 1] - at[e]) / pairs;
                              }
                          }
                          double sum = 0;
                          for (std::int64_t l = 0; l < balance.layers; ++l) {
                              const T* scores = run.at<const T>(sums[static_cast<std::size_t>(l)]);
                              for (std::int64_t e = 0; e < balance.experts; ++e) {
                                  sum += balance.slope(shares, l, e) * static_cast<double>(scores[e]);
                              }
                          }
                          *run.at<double>(aux) = sum;
                      });
    });
}

std::vector<OutputSpec> infer_backward(const Graph& graph, const Node& node) {
    const Shape& load = input_desc(graph, node, 1).shape;
    require(load.rank() == 2 && static_cast<std::size_t>(load[0]) + 2 == node.inputs.size(),
            fmt::format("the load {} does not fit {} layers", shape_text(graph, node, 1), node.inputs.size() - 2));
    std::vector<OutputSpec> outputs;
    for (std::size_t i = 2; i < node.inputs.size(); ++i) {
        outputs.push_back({fmt::format("{}", i - 2), input_desc(graph, node, i)});
    }
    return outputs;
}

void lower_backward(LowerContext& context) {
    const Balance balance(context.attributes(), context.in_shape(0), context.in_shape(1));
    const double coefficient = context.attributes().get<double>("coefficient");
    std::vector<BufferRef> gradients;
    for (std::size_t l = 0; l < context.node().outputs.size(); ++l) gradients.push_back(context.out(l));
    const BufferRef targets = context.in(0), load = context.in(1);
    context.with_table([&]<class T>(const kernels::KernelTable<T>&) {
        context.stage(
            "", 1, cost(context.graph(), context.node()), [=](const RunContext& run, std::int64_t, std::int64_t) {
                const auto* ids = run.at<const std::int32_t>(targets);
                std::int64_t valid = 0;
                for (std::int64_t i = 0; i < balance.tokens; ++i) {
                    valid += ids[i] != kernels::ignore_index ? 1 : 0;
                }
                const double factor = coefficient * static_cast<double>(valid);
                for (std::int64_t l = 0; l < balance.layers; ++l) {
                    T* gradient = run.at<T>(gradients[static_cast<std::size_t>(l)]);
                    for (std::int64_t e = 0; e < balance.experts; ++e) {
                        gradient[e] = static_cast<T>(factor * balance.slope(run.at<const double>(load), l, e));
                    }
                }
            });
    });
}

}  // namespace

const OpDef& moe_balance() {
    static const OpDef def{"moe_balance", "auxiliary loss of the experts' load, and each layer's shares of it",
                           infer,         backward,
                           cost,          nullptr,
                           lower};
    return def;
}

const OpDef& moe_balance_backward() {
    static const OpDef def{
        "moe_balance_backward", "gradient of each layer's sums of scores", infer_backward, nullptr, cost, nullptr,
        lower_backward};
    return def;
}

}  // namespace causeway::ops
