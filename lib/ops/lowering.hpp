#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "graph/op_def.hpp"
#include "kernels/kernel_table.hpp"
#include "plan/cut.hpp"
#include "plan/execution_plan.hpp"

namespace causeway {

/// The kernels a plan is compiled with: one of the two, by the plan's element type.
struct KernelTables {
    const kernels::KernelTable<float>* f32 = nullptr;
    const kernels::KernelTable<double>* f64 = nullptr;

    /// f(table) with the one that is there.
    template <class F>
    auto visit(F&& f) const {
        return f64 != nullptr ? f(*f64) : f(*f32);
    }
};

/// What an op sees when its node becomes steps. Without placements (before memory is planned) it still answers all
/// questions of shape, for OpDef::workspace.
class LowerContext {
  public:
    LowerContext(const Graph& graph, const Node& node, const KernelTables& tables)
        : graph_(graph), node_(node), tables_(tables) {}

    /// Sets where the graph's values and this node's workspace lie.
    void place(const std::vector<BufferRef>& values, BufferRef workspace) {
        places_ = &values;
        workspace_ = workspace;
    }

    const Graph& graph() const { return graph_; }
    const Node& node() const { return node_; }
    const Attributes& attributes() const { return node_.attributes; }
    const TensorDesc& desc(ValueId id) const { return graph_.value(id).desc; }
    const Shape& in_shape(std::size_t i) const { return graph_.shape(node_.input(i)); }
    const Shape& out_shape(std::size_t i = 0) const { return graph_.shape(node_.outputs[i]); }
    std::int64_t element_bytes() const { return tables_.f64 != nullptr ? 8 : 4; }

    BufferRef in(std::size_t i) const { return ref(node_.input(i)); }
    BufferRef out(std::size_t i = 0) const { return i < node_.outputs.size() ? ref(node_.outputs[i]) : BufferRef{}; }
    BufferRef workspace(std::int64_t byte_offset = 0) const {
        return {workspace_.region, workspace_.offset + byte_offset};
    }

    /// True when input i, a gradient, has no earlier writer in this plan: RunArgs::accumulate then decides.
    bool first_write(std::size_t i) const { return !graph_.value(node_.input(i)).producer; }

    /// Appends one kernel call over `tiles` tiles. Stages of a node run one after the other.
    void stage(std::string name, std::int64_t tiles, Cost cost, TileFunction run) {
        Step step;
        step.name = name.empty() ? node_.name : node_.name + "/" + name;
        step.op = node_.op->name;
        step.tiles = tiles;
        step.flops = cost.flops;
        step.bytes = cost.bytes;
        step.run = std::move(run);
        stages_.push_back(std::move(step));
    }
    std::vector<Step> take_stages() { return std::move(stages_); }

    /// Calls f(table) with the table of the plan's element type.
    template <class F>
    auto with_table(F&& f) const {
        return tables_.visit(f);
    }

  private:
    BufferRef ref(ValueId id) const { return id ? (*places_)[static_cast<std::size_t>(id.index)] : BufferRef{}; }

    const Graph& graph_;
    const Node& node_;
    KernelTables tables_;
    const std::vector<BufferRef>* places_ = nullptr;
    BufferRef workspace_;
    std::vector<Step> stages_;
};

namespace ops {

/// Throws GraphError unless the condition holds.
void require(bool condition, const std::string& message);
/// The description of input i; throws GraphError when it is absent.
const TensorDesc& input_desc(const Graph& graph, const Node& node, std::size_t i);
/// "(2, 5, 64)" of input i, for messages.
std::string shape_text(const Graph& graph, const Node& node, std::size_t i);
/// Input i must be i32 (B): a number for each batch entry, such as the tokens of it that the cache holds.
void require_row_counts(const Graph& graph, const Node& node, std::size_t i, std::int64_t batch);
/// A cost of so many FLOPs an output element, reading all inputs and writing all outputs once.
Cost streaming_cost(const Graph& graph, const Node& node, double flops_per_element);
/// The same for a node over x (B,T,D) and a table by position (P,...): T of its rows are read.
Cost table_row_cost(const Graph& graph, const Node& node, double flops_per_element);

}  // namespace ops
}  // namespace causeway
