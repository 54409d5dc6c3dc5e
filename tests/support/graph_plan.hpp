#pragma once

#include <memory>

#include "compile/lower.hpp"
#include "compile/passes.hpp"
#include "compile/schedule.hpp"
#include "exec/model_runtime.hpp"

namespace causeway::test {

/// Compiles a graph made by hand, differentiated already or not, the way compile() does.
inline ExecutionPlan plan_of(Graph graph, const KernelTables& tables, bool reuse = true) {
    graph = pack_weights(graph, tables);
    verify(graph);
    SharedLayout shared;
    const Schedule schedule = schedule_nodes(graph);
    const Placement placement = plan_memory(graph, schedule, workspace_sizes(graph, tables), reuse, shared);
    ExecutionPlan plan = lower(graph, schedule, placement, tables);
    plan.mode = "test";
    plan.memory_reuse = reuse;
    plan.memory.region_bytes = {shared.bytes(Region::parameters), shared.bytes(Region::state), placement.scratch_bytes};
    plan.memory.scratch_without_reuse = placement.scratch_without_reuse;
    return plan;
}

inline ModelRuntime runtime_of(Graph graph, const KernelTables& tables, int threads = 1, bool reuse = true) {
    std::vector<ExecutionPlan> plans;
    plans.push_back(plan_of(std::move(graph), tables, reuse));
    return ModelRuntime(std::move(plans), threads);
}

inline KernelTables double_tables() { return {nullptr, &kernels::reference_table<double>()}; }
inline KernelTables float_tables(Isa isa) { return {&kernels::kernel_table(isa), nullptr}; }

/// Numbers in [-1, 1) from a seed, the same for float and double.
class Numbers {
  public:
    explicit Numbers(std::uint64_t seed) : state_(seed * 2654435761u + 12345) {}
    double operator()() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<float>(static_cast<double>(state_ >> 40) * 0x1p-23 - 1.0);
    }
    std::int32_t below(std::int32_t bound) {
        return static_cast<std::int32_t>((*this)() * 0.5 * bound + 0.5 * bound) % bound;
    }

  private:
    std::uint64_t state_;
};

}  // namespace causeway::test
