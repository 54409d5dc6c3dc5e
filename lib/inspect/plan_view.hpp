#pragma once

#include <string>
#include <vector>

#include "plan/execution_plan.hpp"

namespace causeway {

/// A plan with what the dumps look up in it again and again.
class PlanView {
  public:
    explicit PlanView(const ExecutionPlan& plan);

    const ExecutionPlan& plan() const { return plan_; }
    std::int32_t group_of_step(std::size_t step) const { return group_of_step_[step]; }
    Phase phase_of_group(std::int32_t group) const { return phase_of_group_[static_cast<std::size_t>(group)]; }
    const PlannedNode& node_of(const Step& step) const { return plan_.nodes[static_cast<std::size_t>(step.node)]; }
    const PlannedValue& value(std::int32_t index) const { return plan_.values[static_cast<std::size_t>(index)]; }
    /// The shapes of a node's present inputs or outputs: "(2,5,64) (192,64)", "+3" for those beyond the fourth.
    std::string shapes(const std::vector<std::int32_t>& values) const;

  private:
    const ExecutionPlan& plan_;
    std::vector<std::int32_t> group_of_step_;
    std::vector<Phase> phase_of_group_;
};

std::string region_name(Region region);

}  // namespace causeway
