#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inspect/plan_scaling.hpp"
#include "inspect/recompute_table.hpp"
#include "plan/execution_plan.hpp"

namespace causeway {

/// What a plan amounts to.
struct PlanSummary {
    std::int64_t parameters = 0;  ///< learned numbers, a tied one once
    /// What a token meets of them: all, but of the experts' only its choices. The rest of what it costs is in
    /// flops_per_token.
    std::int64_t active_parameters = 0;
    std::int64_t tokens = 0;  ///< B*T of one run
    std::int64_t steps = 0, groups = 0, parallel_groups = 0;

    // Bytes, without the padding between buffers.
    std::int64_t parameter_bytes = 0, constant_bytes = 0, packed_bytes = 0;
    std::int64_t gradient_bytes = 0, moment_bytes = 0, cache_bytes = 0;
    // Bytes with padding, as reserved.
    std::int64_t scratch_bytes = 0;          ///< peak, with memory reuse
    std::int64_t scratch_without_reuse = 0;  ///< with a buffer for each value
    std::int64_t total_bytes = 0;

    double flops_pack = 0, flops_step = 0, flops_update = 0;
    double flops_per_token = 0;                                     ///< of the step phase
    double seconds_pack = 0, seconds_step = 0, seconds_update = 0;  ///< predicted, on one core
};
PlanSummary summarize(const ExecutionPlan& plan);

/// The totals, a table of steps (step, group, phase, op, shapes, place and lifetime of the first output, tiles, FLOPs,
/// bytes, predicted time, serial or parallel) and a table of the values with their places and lifetimes.
std::string plan_text(const ExecutionPlan& plan);

/// What can go into a plan's JSON beside the plan itself.
struct PlanTables {
    std::vector<RecomputeCost> recompute;  ///< of each choice of train.recompute
    std::vector<PartScaling> scaling;      ///< of predict_scaling
};

/// The same, complete, as JSON: "summary", "phases", "groups", "steps", "nodes", "values". Sizes are in bytes, times in
/// seconds, places are byte offsets in a region, lifetimes inclusive ranges of groups. "recompute" and "scaling" are
/// there when the tables are: an object a choice, and an object a part with its numbers of cores and the groups that
/// lose time on them, most first.
std::string plan_json(const ExecutionPlan& plan, const PlanTables& tables = {});

/// The dataflow graph for Graphviz: nodes as boxes in one cluster a phase, values as edges with their shapes.
std::string plan_dot(const ExecutionPlan& plan);

/// A drawing that stands alone: totals, the memory map of the scratch region (groups across, addresses up) and the
/// list of steps with their predicted share of the time.
std::string plan_svg(const ExecutionPlan& plan);

}  // namespace causeway
