#include <vector>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "graph/graph.hpp"
#include "graph/op_def.hpp"

namespace causeway {
namespace {

/// Follows which version of each memory is the present one, node by node.
class Verifier {
  public:
    explicit Verifier(const Graph& graph) : graph_(graph), newest_(graph.values().size()) {}

    void run() {
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(graph_.values().size()); ++i) {
            if (!graph_.value({i}).producer) newest_[index(graph_.storage_of({i}))] = {i};
        }
        for (const Node& node : graph_.nodes()) check(node);
    }

  private:
    static std::size_t index(ValueId id) { return static_cast<std::size_t>(id.index); }

    void check(const Node& node) {
        for (ValueId input : node.inputs) {
            if (input) check_read(node, input);
        }
        check_outputs(node);
        for (ValueId output : node.outputs) newest_[index(graph_.storage_of(output))] = output;
    }

    void check_read(const Node& node, ValueId input) const {
        const ValueId newest = newest_[index(graph_.storage_of(input))];
        if (newest == input) return;
        if (!newest) fail(node, fmt::format("reads '{}' before it is written", graph_.value(input).name));
        fail(node, fmt::format("reads '{}', whose memory holds '{}' by then", graph_.value(input).name,
                               graph_.value(newest).name));
    }

    void check_outputs(const Node& node) const {
        const std::vector<OutputSpec> specs = node.op->infer(graph_, node);
        if (specs.size() != node.outputs.size()) {
            fail(node, fmt::format("has {} outputs, its shape rule gives {}", node.outputs.size(), specs.size()));
        }
        for (std::size_t i = 0; i < specs.size(); ++i) {
            const TensorDesc& have = graph_.value(node.outputs[i]).desc;
            const TensorDesc& rule = specs[i].desc;
            if (have == rule) continue;
            fail(node, fmt::format("output '{}' is {}, its shape rule gives {}", graph_.value(node.outputs[i]).name,
                                   to_string(have), to_string(rule)));
        }
    }

    [[noreturn]] static void fail(const Node& node, const std::string& what) {
        throw GraphError(fmt::format("node '{}' ({}) {}", node.name, node.op->name, what));
    }

    const Graph& graph_;
    std::vector<ValueId> newest_;  ///< by storage: the version its memory holds
};

}  // namespace

void verify(const Graph& graph) { Verifier(graph).run(); }

}  // namespace causeway
