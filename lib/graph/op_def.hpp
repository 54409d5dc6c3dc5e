#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace causeway {

class BackwardContext;
class LowerContext;

/// What a node costs: the work a kernel must do, not what a machine needs for it.
struct Cost {
    double flops = 0;
    double bytes = 0;  ///< read and written, each operand once
};

/// One output as an op's shape rule gives it.
struct OutputSpec {
    std::string suffix;  ///< appended to the node's name; empty for the main output
    TensorDesc desc;
    Role role = Role::activation;
    int alias_input = -1;      ///< the output is this input's memory, updated in place
    int may_reuse_input = -1;  ///< the kernel may write over this input if nobody reads it later
};

/// A weight that a node multiplies with, and the input where a packed copy of it may be handed over.
struct WeightUse {
    std::size_t weight_input = 0;
    std::size_t packed_input = 0;
    bool transposed = true;  ///< y = x W^T (GEMM form nt); otherwise dx = dy W (form nn)
    std::int64_t rows = 0;   ///< of the other operand in one product
};

/// The definition of an operation. One file of lib/ops defines one op (with the op that is its gradient); by name it is
/// known only to what emits it and to the passes that fuse it.
struct OpDef {
    std::string_view name;
    std::string_view summary;  ///< one line for dumps and documentation

    /// Shape rule: checks the inputs of a node that has no outputs yet, throws GraphError, gives the outputs.
    std::vector<OutputSpec> (*infer)(const Graph& graph, const Node& node) = nullptr;
    /// Emits the nodes of the hand-derived gradient; null when there is none to derive.
    void (*backward)(BackwardContext& context) = nullptr;
    Cost (*cost)(const Graph& graph, const Node& node) = nullptr;
    /// Bytes of scratch the node needs while it runs; null for none.
    std::int64_t (*workspace)(const LowerContext& context) = nullptr;
    /// Appends the node's steps to the plan.
    void (*lower)(LowerContext& context) = nullptr;
    /// The weights that may be packed beforehand; null for none.
    std::vector<WeightUse> (*weights)(const Graph& graph, const Node& node) = nullptr;
    /// Of an op whose first output is a finished gradient: tiles that can each leave the sum of their squares, as a
    /// last output when attribute "square_sums" says how many; null for none.
    std::int64_t (*square_sum_tiles)(const LowerContext& context) = nullptr;
    /// Of an op that renews parameter input 0: the input where its packed copy of form nt may be handed over, which the
    /// op then renews with it as its last output; -1 for all others.
    int renewed_copy_input = -1;
};

/// What an op sees while the backward graph is emitted. Gradients are of the *sum* of the losses.
class BackwardContext {
  public:
    virtual ~BackwardContext() = default;

    virtual Graph& graph() = 0;
    /// The forward node, a copy: the graph grows while backward emits.
    virtual const Node& node() const = 0;
    /// Gradient of output i; invalid when nothing depends on it.
    virtual ValueId output_gradient(std::size_t i) = 0;
    /// True when input i is there and leads to a trainable parameter.
    virtual bool wants_gradient(std::size_t input) const = 0;
    /// Hands over the gradient of an activation; a second one for the same value is summed by an explicit node.
    virtual void give_gradient(std::size_t input, ValueId gradient) = 0;
    /// For a parameter: the present version of its gradient, which the emitted node adds to and makes a new version of.
    /// Invalid when the parameter is frozen or absent.
    virtual ValueId gradient_to_update(std::size_t input) = 0;
    virtual void gradient_updated(std::size_t input, ValueId gradient) = 0;
};

}  // namespace causeway
