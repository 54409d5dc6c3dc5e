#include "inspect/plan_dump.hpp"

namespace causeway {
namespace {

void add_value(PlanSummary& summary, const PlannedValue& value) {
    const std::int64_t bytes = value.desc.bytes();
    if (value.role == Role::parameter) {
        summary.parameters += value.desc.shape.elements();
        summary.parameter_bytes += bytes;
    } else if (value.role == Role::constant) {
        summary.constant_bytes += bytes;
    } else if (value.role == Role::packed) {
        summary.packed_bytes += bytes;
    } else if (value.role == Role::gradient) {
        summary.gradient_bytes += bytes;
    } else if (value.role == Role::state) {
        summary.moment_bytes += bytes;
    } else if (value.role == Role::cache) {
        summary.cache_bytes += bytes;
    } else if (value.name == "tokens") {
        summary.tokens = value.desc.shape.elements();
    }
}

/// Parameters of experts that a token does not meet: of a moe_linear node's E matrices it meets as many as it has rows.
std::int64_t idle_parameters(const ExecutionPlan& plan, std::int64_t tokens) {
    std::int64_t idle = 0;
    for (const PlannedNode& node : plan.nodes) {
        if (node.op != "moe_linear" || tokens == 0 || node.name.ends_with(".recomputed")) continue;
        const Shape& rows = plan.values[static_cast<std::size_t>(node.inputs[0])].desc.shape;
        const Shape& weight = plan.values[static_cast<std::size_t>(node.inputs[1])].desc.shape;
        idle += (weight[0] - rows[0] / tokens) * weight[1] * weight[2];
    }
    return idle;
}

double predicted_seconds(const ExecutionPlan& plan, Phase phase) {
    double seconds = 0;
    const PhaseRange& range = plan.range(phase);
    for (std::int32_t g = range.first_group; g < range.first_group + range.group_count; ++g) {
        seconds += plan.groups[static_cast<std::size_t>(g)].predicted_seconds;
    }
    return seconds;
}

}  // namespace

PlanSummary summarize(const ExecutionPlan& plan) {
    PlanSummary summary;
    for (std::size_t i = 0; i < plan.values.size(); ++i) {
        const bool first_version = plan.values[i].storage == static_cast<std::int32_t>(i);
        if (first_version) add_value(summary, plan.values[i]);
    }
    summary.active_parameters = summary.parameters - idle_parameters(plan, summary.tokens);
    summary.steps = static_cast<std::int64_t>(plan.steps.size());
    summary.groups = static_cast<std::int64_t>(plan.groups.size());
    for (const StepGroup& group : plan.groups) summary.parallel_groups += group.parallel ? 1 : 0;
    summary.scratch_bytes = plan.memory.region_bytes[static_cast<std::size_t>(Region::scratch)];
    summary.scratch_without_reuse = plan.memory.scratch_without_reuse;
    summary.total_bytes = plan.memory.total();
    summary.flops_pack = plan.flops(Phase::pack);
    summary.flops_step = plan.flops(Phase::step);
    summary.flops_update = plan.flops(Phase::update);
    if (summary.tokens > 0) summary.flops_per_token = summary.flops_step / static_cast<double>(summary.tokens);
    summary.seconds_pack = predicted_seconds(plan, Phase::pack);
    summary.seconds_step = predicted_seconds(plan, Phase::step);
    summary.seconds_update = predicted_seconds(plan, Phase::update);
    return summary;
}

}  // namespace causeway
