#pragma once

#include "compile/memory_plan.hpp"
#include "compile/schedule.hpp"
#include "graph/graph.hpp"
#include "ops/lowering.hpp"
#include "plan/execution_plan.hpp"

namespace causeway {

/// Bytes of scratch each node needs while it runs, by node.
std::vector<std::int64_t> workspace_sizes(const Graph& graph, const KernelTables& tables);

/// Turns scheduled and placed nodes into the steps and step groups of a plan. Stage k of all nodes of a schedule group
/// makes one step group.
ExecutionPlan lower(const Graph& graph, const Schedule& schedule, const Placement& placement,
                    const KernelTables& tables);

}  // namespace causeway
