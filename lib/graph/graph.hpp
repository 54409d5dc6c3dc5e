#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/phase.hpp"
#include "graph/attributes.hpp"
#include "tensor/initializer.hpp"
#include "tensor/role.hpp"
#include "tensor/tensor_desc.hpp"

namespace causeway {

struct OpDef;

/// Index of a value in its graph; a default one stands for an optional input that is not given.
struct ValueId {
    std::int32_t index = -1;
    explicit operator bool() const { return index >= 0; }
    bool operator==(const ValueId&) const = default;
};

/// Index of a node in its graph.
struct NodeId {
    std::int32_t index = -1;
    explicit operator bool() const { return index >= 0; }
    bool operator==(const NodeId&) const = default;
};

/// One tensor of the graph. It is written once, by its producer; a node that updates memory in place makes a new value
/// that is an alias of the old one.
struct Value {
    std::string name;
    TensorDesc desc;
    Role role = Role::activation;
    NodeId producer;              ///< none for what the caller or an initializer provides
    ValueId alias_of;             ///< shares the memory of this older version
    bool trainable = false;       ///< parameters: takes part in the backward pass; a frozen one has no gradient
    Initializer initializer;      ///< parameters and constants
    bool keep = false;            ///< its memory is not reused, so that it can be read after the run
    bool block_boundary = false;  ///< input of a block of the model, or output of the last: all that a block reads of
                                  ///< the nodes before it; or what a block gives to others besides its output
};

/// One operation on values.
struct Node {
    const OpDef* op = nullptr;
    std::string name;
    std::vector<ValueId> inputs;  ///< an invalid id where an optional input is not given
    std::vector<ValueId> outputs;
    Attributes attributes;
    Phase phase = Phase::step;

    ValueId input(std::size_t i) const { return i < inputs.size() ? inputs[i] : ValueId{}; }
};

/// A static dataflow graph in topological order. It only grows: passes make new graphs.
class Graph {
  public:
    ValueId add_value(Value value);

    /// Appends a node; its op's shape rule checks the inputs and makes the outputs, named after the node and the rule's
    /// suffixes. Throws GraphError when the inputs do not fit. Returns the node's id.
    NodeId add_node(const OpDef& op, std::string name, std::vector<ValueId> inputs, Attributes attributes = {},
                    Phase phase = Phase::step);

    /// add_node, returning the first output.
    ValueId emit(const OpDef& op, std::string name, std::vector<ValueId> inputs, Attributes attributes = {},
                 Phase phase = Phase::step);

    /// Appends a node with outputs that exist already: how a pass copies one.
    NodeId copy_node(Node node);

    const std::vector<Value>& values() const { return values_; }
    const std::vector<Node>& nodes() const { return nodes_; }
    const Value& value(ValueId id) const { return values_[static_cast<std::size_t>(id.index)]; }
    Value& value(ValueId id) { return values_[static_cast<std::size_t>(id.index)]; }
    const Node& node(NodeId id) const { return nodes_[static_cast<std::size_t>(id.index)]; }

    const Shape& shape(ValueId id) const { return value(id).desc.shape; }

    /// The first value of that name; invalid when there is none.
    ValueId find(std::string_view name) const;
    /// The oldest version of the memory that a value lives in.
    ValueId storage_of(ValueId id) const;
    /// All values with this role, in the order they were added, first versions only.
    std::vector<ValueId> with_role(Role role) const;

  private:
    std::vector<Value> values_;
    std::vector<Node> nodes_;
};

/// Throws GraphError, naming node and value, when a node reads what is not there yet, a value is read after a newer
/// version has replaced it, or the op's shape rule disagrees with the outputs.
void verify(const Graph& graph);

}  // namespace causeway
