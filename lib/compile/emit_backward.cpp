#include <vector>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "compile/passes.hpp"
#include "ops/ops.hpp"

namespace causeway {
namespace {

std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }

/// Reverse-mode differentiation at compile time: for each forward node, last first, the op emits its own gradient.
class Backward final : public BackwardContext {
  public:
    Backward(Graph graph, std::string_view loss, std::string_view auxiliary)
        : graph_(std::move(graph)), forward_nodes_(graph_.nodes().size()) {
        loss_ = graph_.find(loss);
        if (!loss_) throw GraphError(fmt::format("there is no value '{}' to differentiate", loss));
        auxiliary_ = graph_.find(auxiliary);
        mark_dependent();
    }

    Graph run() && {
        gradients_.resize(graph_.values().size());
        for (std::size_t i = forward_nodes_; i-- > 0;) {
            node_ = graph_.nodes()[i];
            if (!reaches_loss()) continue;
            if (node_.op->backward == nullptr) {
                throw GraphError(fmt::format("node '{}': operation {} has no gradient", node_.name, node_.op->name));
            }
            node_.op->backward(*this);
        }
        require_all_gradients();
        return std::move(graph_);
    }

    Graph& graph() override { return graph_; }
    const Node& node() const override { return node_; }
    ValueId output_gradient(std::size_t i) override { return gradient_of(node_.outputs[i]); }
    bool wants_gradient(std::size_t input) const override {
        const ValueId id = node_.input(input);
        return id && dependent_[at(id)];
    }

    void give_gradient(std::size_t input, ValueId gradient) override {
        const ValueId id = node_.input(input);
        const ValueId before = gradient_of(id);
        const ValueId sum =
            before ? graph_.emit(ops::add(), graph_.value(id).name + ".gradient_sum", {before, gradient}) : gradient;
        set_gradient(id, sum);
    }

    ValueId gradient_to_update(std::size_t input) override {
        const ValueId id = node_.input(input);
        if (!id || !graph_.value(id).trainable) return {};
        if (!gradient_of(id)) {
            Value slot;
            slot.name = graph_.value(id).name + ".grad";
            slot.desc = graph_.value(id).desc;
            slot.role = Role::gradient;
            set_gradient(id, graph_.add_value(std::move(slot)));
        }
        return gradient_of(id);
    }

    void gradient_updated(std::size_t input, ValueId gradient) override { set_gradient(node_.input(input), gradient); }

  private:
    /// Which values depend on a trainable parameter.
    void mark_dependent() {
        dependent_.resize(graph_.values().size());
        for (std::size_t i = 0; i < dependent_.size(); ++i) dependent_[i] = graph_.values()[i].trainable;
        for (const Node& node : graph_.nodes()) {
            bool any = false;
            for (ValueId input : node.inputs) any = any || (input && dependent_[at(input)]);
            for (ValueId output : node.outputs) dependent_[at(output)] = any;
        }
    }

    bool reaches_loss() const {
        bool reaches = false;
        for (ValueId output : node_.outputs)
            reaches = reaches || output == loss_ || output == auxiliary_ || gradient_of(output);
        return reaches && dependent_[at(node_.outputs.front())];
    }

    void require_all_gradients() const {
        for (ValueId parameter : graph_.with_role(Role::parameter)) {
            if (graph_.value(parameter).trainable && !gradient_of(parameter)) {
                throw GraphError(fmt::format("parameter '{}' does not reach the loss", graph_.value(parameter).name));
            }
        }
    }

    ValueId gradient_of(ValueId id) const { return at(id) < gradients_.size() ? gradients_[at(id)] : ValueId{}; }
    void set_gradient(ValueId id, ValueId gradient) { gradients_[at(id)] = gradient; }

    Graph graph_;
    std::size_t forward_nodes_;
    ValueId loss_, auxiliary_;
    Node node_;
    std::vector<bool> dependent_;
    std::vector<ValueId> gradients_;  ///< by forward value; for parameters the newest version
};

}  // namespace

Graph emit_backward(Graph graph, std::string_view loss, std::string_view auxiliary) {
    return Backward(std::move(graph), loss, auxiliary).run();
}

}  // namespace causeway
