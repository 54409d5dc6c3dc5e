#include "graph/graph.hpp"

#include <algorithm>
#include <array>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "graph/op_def.hpp"

namespace causeway {

ValueId Graph::add_value(Value value) {
    values_.push_back(std::move(value));
    return {static_cast<std::int32_t>(values_.size() - 1)};
}

NodeId Graph::add_node(const OpDef& op, std::string name, std::vector<ValueId> inputs, Attributes attributes,
                       Phase phase) {
    const NodeId id{static_cast<std::int32_t>(nodes_.size())};
    Node node{&op, std::move(name), std::move(inputs), {}, std::move(attributes), phase};
    std::vector<OutputSpec> specs;
    try {
        specs = op.infer(*this, node);
    } catch (const GraphError& error) {
        throw GraphError(fmt::format("node '{}' ({}): {}", node.name, op.name, error.what()));
    }
    for (const OutputSpec& spec : specs) {
        Value value;
        value.name = spec.suffix.empty() ? node.name : node.name + "." + spec.suffix;
        value.desc = spec.desc;
        value.role = spec.role;
        value.producer = id;
        if (spec.alias_input >= 0) value.alias_of = node.input(static_cast<std::size_t>(spec.alias_input));
        node.outputs.push_back(add_value(std::move(value)));
    }
    nodes_.push_back(std::move(node));
    return id;
}

ValueId Graph::emit(const OpDef& op, std::string name, std::vector<ValueId> inputs, Attributes attributes,
                    Phase phase) {
    return node(add_node(op, std::move(name), std::move(inputs), std::move(attributes), phase)).outputs.front();
}

NodeId Graph::copy_node(Node node) {
    const NodeId id{static_cast<std::int32_t>(nodes_.size())};
    for (ValueId output : node.outputs) value(output).producer = id;
    nodes_.push_back(std::move(node));
    return id;
}

ValueId Graph::find(std::string_view name) const {
    const auto found = std::ranges::find(values_, name, &Value::name);
    return found == values_.end() ? ValueId{} : ValueId{static_cast<std::int32_t>(found - values_.begin())};
}

ValueId Graph::storage_of(ValueId id) const {
    while (value(id).alias_of) id = value(id).alias_of;
    return id;
}

std::vector<ValueId> Graph::with_role(Role role) const {
    std::vector<ValueId> found;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(values_.size()); ++i) {
        const Value& candidate = value({i});
        if (candidate.role == role && !candidate.alias_of) found.push_back({i});
    }
    return found;
}

}  // namespace causeway
