#pragma once

#include <utility>
#include <vector>

#include "graph/graph.hpp"

namespace causeway {

/// Builds a new graph from an old one, node by node, in the old order. Values are copied when first mentioned.
class GraphRewriter {
  public:
    explicit GraphRewriter(const Graph& from) : from_(from), map_(from.values().size()) {
        // What has no producer comes first and in the old order, which is the order of memory.
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(map_.size()); ++i) {
            if (!from.value({i}).producer) value({i});
        }
    }

    const Graph& from() const { return from_; }
    Graph& to() { return to_; }

    /// The new id of an old value.
    ValueId value(ValueId old) {
        if (!old) return {};
        ValueId& known = map_[static_cast<std::size_t>(old.index)];
        if (!known) {
            Value copy = from_.value(old);
            if (copy.alias_of) copy.alias_of = value(copy.alias_of);
            copy.producer = {};
            known = to_.add_value(std::move(copy));
        }
        return known;
    }

    /// From here on, old value `old` is `replacement` of the new graph.
    void replace(ValueId old, ValueId replacement) { map_[static_cast<std::size_t>(old.index)] = replacement; }

    /// The node with its inputs in the new graph and without outputs, not yet appended.
    Node translate(const Node& node) {
        Node copy = node;
        for (ValueId& id : copy.inputs) id = value(id);
        copy.outputs.clear();
        return copy;
    }
    /// The new ids of the node's outputs.
    std::vector<ValueId> outputs(const Node& node) {
        std::vector<ValueId> ids;
        for (ValueId id : node.outputs) ids.push_back(value(id));
        return ids;
    }
    void copy(const Node& node) {
        Node copied = translate(node);
        copied.outputs = outputs(node);
        to_.copy_node(std::move(copied));
    }

    Graph finish() && { return std::move(to_); }

  private:
    const Graph& from_;
    Graph to_;
    std::vector<ValueId> map_;
};

/// How many node inputs mention each value.
inline std::vector<int> count_uses(const Graph& graph) {
    std::vector<int> uses(graph.values().size());
    for (const Node& node : graph.nodes()) {
        for (ValueId input : node.inputs) {
            if (input) ++uses[static_cast<std::size_t>(input.index)];
        }
    }
    return uses;
}

}  // namespace causeway
