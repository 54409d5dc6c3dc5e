#include "compile/lower.hpp"

#include <algorithm>
#include <span>

#include "base/format.hpp"

namespace causeway {
namespace {

/// Groups of less work on one core are not shared. Handing one over to threads that wait for it takes a fraction of a
/// microsecond, but what the other core wrote has to come out of its cache, which takes as long as the work itself when
/// that is little. MachineRates is cautious by a factor of two or three.
constexpr double share_threshold_seconds = 20e-6;
/// Other threads are woken for phases whose shared groups have at least this much work together: waking them takes 1 to
/// 2 us when they are hot and about 30 us after they have gone to sleep, while this thread goes on.
constexpr double wake_threshold_seconds = 40e-6;

/// What one core does at a cautious guess; only the decision between serial and parallel rests on it.
struct MachineRates {
    double flops_per_second;
    double bytes_per_second;

    double seconds(const Step& step) const {
        // What fits L2 is there already when a small model runs step after step.
        const double bandwidth = step.bytes < cached_bytes ? cached_speedup * bytes_per_second : bytes_per_second;
        return std::max(step.flops / flops_per_second, step.bytes / bandwidth) +
               static_cast<double>(step.tiles) * seconds_per_tile;
    }

    static constexpr double cached_bytes = 1024 * 1024;
    static constexpr double cached_speedup = 3;
    static constexpr double seconds_per_tile = 100e-9;  ///< of the kernels' prologues
};

MachineRates rates_of(Isa isa) {
    switch (isa) {
        case Isa::reference:
            return {1e9, 4e9};
        case Isa::sse2:
            return {15e9, 15e9};
        case Isa::neon:
            return {20e9, 15e9};
        case Isa::avx2:
            return {60e9, 20e9};
        case Isa::avx512:
            return {100e9, 20e9};
    }
    return {1e9, 4e9};
}

std::string attributes_text(const Attributes& attributes) {
    std::string text;
    for (const auto& [name, value] : attributes.entries()) {
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, to_string(value));
    }
    return text;
}

std::vector<std::int32_t> indices(const std::vector<ValueId>& ids) {
    std::vector<std::int32_t> result;
    for (ValueId id : ids) result.push_back(id.index);
    return result;
}

class Lowerer {
  public:
    Lowerer(const Graph& graph, const Schedule& schedule, const Placement& placement, const KernelTables& tables)
        : graph_(graph), schedule_(schedule), placement_(placement), tables_(tables) {}

    ExecutionPlan run() && {
        plan_.isa = tables_.f64 != nullptr ? tables_.f64->isa : tables_.f32->isa;
        plan_.dtype = tables_.f64 != nullptr ? DType::f64 : DType::f32;
        add_values();
        add_nodes();
        for (std::size_t g = 0; g < schedule_.groups.size(); ++g) add_group(static_cast<std::int32_t>(g));
        choose_parallel_phases();
        finish_lifetimes(workspace_sizes(graph_, tables_));
        return std::move(plan_);
    }

  private:
    void add_values() {
        for (std::size_t i = 0; i < graph_.values().size(); ++i) {
            const Value& value = graph_.values()[i];
            PlannedValue planned;
            planned.name = value.name;
            planned.role = value.role;
            planned.desc = value.desc;
            planned.place = placement_.values[i];
            planned.first_group = placement_.first_group[i];
            planned.last_group = placement_.last_group[i];
            planned.storage = graph_.storage_of({static_cast<std::int32_t>(i)}).index;
            planned.trainable = value.trainable;
            planned.initializer = value.initializer;
            planned.kept = value.role != Role::activation || value.keep;
            plan_.values.push_back(std::move(planned));
        }
    }

    void add_nodes() {
        for (const Node& node : graph_.nodes()) {
            PlannedNode planned;
            planned.name = node.name;
            planned.op = node.op->name;
            planned.summary = node.op->summary;
            planned.attributes = attributes_text(node.attributes);
            planned.inputs = indices(node.inputs);
            planned.outputs = indices(node.outputs);
            plan_.nodes.push_back(std::move(planned));
        }
    }

    void add_group(std::int32_t group_index) {
        const Schedule::Group& group = schedule_.groups[static_cast<std::size_t>(group_index)];
        std::vector<std::vector<Step>> stages;  // by stage, then node
        for (NodeId id : group.nodes) {
            std::vector<Step> steps = lower_node(id);
            stages.resize(std::max(stages.size(), steps.size()));
            for (std::size_t s = 0; s < steps.size(); ++s) stages[s].push_back(std::move(steps[s]));
            plan_.nodes[static_cast<std::size_t>(id.index)].group = group_index;
        }
        first_step_group_.push_back(static_cast<std::int32_t>(plan_.groups.size()));
        for (std::vector<Step>& steps : stages) add_step_group(std::move(steps));
        last_step_group_.push_back(static_cast<std::int32_t>(plan_.groups.size()) - 1);
        PhaseRange& range = plan_.phases[static_cast<std::size_t>(group.phase)];
        if (range.group_count == 0) range.first_group = first_step_group_.back();
        range.group_count = static_cast<std::int32_t>(plan_.groups.size()) - range.first_group;
    }

    std::vector<Step> lower_node(NodeId id) {
        const Node& node = graph_.node(id);
        LowerContext context(graph_, node, tables_);
        const std::size_t index = static_cast<std::size_t>(id.index);
        context.place(placement_.values, placement_.workspaces[index]);
        node.op->lower(context);
        std::vector<Step> steps = context.take_stages();
        const MachineRates rates = rates_of(plan_.isa);
        for (Step& step : steps) {
            step.node = id.index;
            step.predicted_seconds = rates.seconds(step);
        }
        return steps;
    }

    void add_step_group(std::vector<Step> steps) {
        StepGroup group;
        group.first_step = static_cast<std::int32_t>(plan_.steps.size());
        group.step_count = static_cast<std::int32_t>(steps.size());
        for (Step& step : steps) {
            group.tiles += step.tiles;
            group.predicted_seconds += step.predicted_seconds;
            plan_.steps.push_back(std::move(step));
        }
        group.parallel = group.tiles > 1 && group.predicted_seconds > share_threshold_seconds;
        plan_.groups.push_back(group);
    }

    /// Decides for each phase whether to wake other threads; where not, none of its groups is shared.
    void choose_parallel_phases() {
        for (PhaseRange& phase : plan_.phases) {
            const std::span<StepGroup> groups =
                std::span(plan_.groups)
                    .subspan(static_cast<std::size_t>(phase.first_group), static_cast<std::size_t>(phase.group_count));
            double shared_seconds = 0;
            for (const StepGroup& group : groups) shared_seconds += group.parallel ? group.predicted_seconds : 0;
            phase.parallel = shared_seconds > wake_threshold_seconds;
            for (StepGroup& group : groups) group.parallel = group.parallel && phase.parallel;
        }
    }

    /// Lifetimes were found in schedule groups; the executor counts step groups.
    void finish_lifetimes(const std::vector<std::int64_t>& workspace_bytes) {
        if (schedule_.groups.empty()) return;
        for (PlannedValue& value : plan_.values) {
            value.first_group = first_step_group_[static_cast<std::size_t>(value.first_group)];
            value.last_group = last_step_group_[static_cast<std::size_t>(value.last_group)];
        }
        for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
            PlannedNode& node = plan_.nodes[i];
            node.workspace = placement_.workspaces[i];
            node.workspace_bytes = workspace_bytes[i];
            const std::size_t group = static_cast<std::size_t>(node.group);
            node.first_group = first_step_group_[group];
            node.last_group = last_step_group_[group];
        }
    }

    const Graph& graph_;
    const Schedule& schedule_;
    const Placement& placement_;
    const KernelTables& tables_;
    ExecutionPlan plan_;
    std::vector<std::int32_t> first_step_group_, last_step_group_;  ///< by schedule group
};

}  // namespace

std::vector<std::int64_t> workspace_sizes(const Graph& graph, const KernelTables& tables) {
    std::vector<std::int64_t> sizes;
    for (const Node& node : graph.nodes()) {
        sizes.push_back(node.op->workspace == nullptr ? 0 : node.op->workspace(LowerContext(graph, node, tables)));
    }
    return sizes;
}

ExecutionPlan lower(const Graph& graph, const Schedule& schedule, const Placement& placement,
                    const KernelTables& tables) {
    return Lowerer(graph, schedule, placement, tables).run();
}

}  // namespace causeway
