#pragma once

#include "config/config.hpp"
#include "graph/graph.hpp"
#include "ops/lowering.hpp"

// The passes of the compiler: pure functions from graph to graph, in the order compile.cpp calls them.

namespace causeway {

/// Appends the gradient of the sum in value `loss` with respect to every trainable parameter: the nodes in reverse,
/// each op's own backward. Where there is a value `auxiliary`, its gradient joins, with the weight its op gives it.
/// Gradients of parameters are values "<parameter>.grad" of role gradient, made in backward's order. Throws GraphError
/// when a trainable parameter does not reach the loss or an op on the way has no backward.
Graph emit_backward(Graph graph, std::string_view loss, std::string_view auxiliary = "aux_loss");

/// Lets the backward pass of a differentiated graph read second copies of what the blocks' forward nodes make, put
/// before their first reader there, so that the first copies die in the forward pass (Chen et al. 2016: "Training Deep
/// Nets with Sublinear Memory Cost"). What is kept instead:
///   block           the blocks' inputs and outputs only (Value::block_boundary);
///   attention_free  also what attention reads and makes (qkv, its output, log-sum-exp or weights): attention is what
///                   grows with T^2, and is not run again;
///   none            everything: the graph as it is.
/// The copies are the same nodes on the same numbers, so gradients keep their bits.
Graph recompute(const Graph& graph, Recompute choice);

/// Appends the update phase: norm of all gradients (value "grad_norm"), what follows from it (value "update_factors",
/// see plan/update_factors.hpp), then train.optimizer on each parameter, with decay where train.weight_decay_scope
/// says.
Graph emit_update(Graph graph, const TrainConfig& train);

/// Where the loss's backward computes the loss too, drops the forward node and takes the loss from there.
Graph fuse_loss(const Graph& graph);

/// linear -> activation and linear -> add (residual) become one node: the GEMM applies them to tiles still in
/// registers.
Graph fuse_epilogue(const Graph& graph);

/// An add whose operand is a norm's input gradient joins the norm's backward node.
Graph fuse_norm_residual(const Graph& graph);

/// The product that finishes a large weight's gradient sums its squares tile by tile, while they are in cache, and the
/// square_sum node goes. Between the step and the update nothing else may then change the gradient.
Graph fuse_gradient_norm(const Graph& graph, const KernelTables& tables);

/// Prepends pack nodes for the weights whose GEMMs want a packed copy, hands the copies to their users, and lets the
/// update phase renew them with the parameters.
Graph pack_weights(const Graph& graph, const KernelTables& tables);

}  // namespace causeway
