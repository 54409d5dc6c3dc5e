#include "plan/execution_plan.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {

bool ExecutionPlan::has(std::string_view name) const {
    return std::ranges::find(values, name, &PlannedValue::name) != values.end();
}

std::int32_t ExecutionPlan::index_of(std::string_view name) const {
    const auto found = std::ranges::find(values, name, &PlannedValue::name);
    if (found == values.end()) throw GraphError(fmt::format("plan '{}' has no value named '{}'", mode, name));
    return static_cast<std::int32_t>(found - values.begin());
}

std::vector<std::int32_t> ExecutionPlan::with_role(Role role) const {
    std::vector<std::int32_t> found;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].role == role) found.push_back(static_cast<std::int32_t>(i));
    }
    return found;
}

double ExecutionPlan::flops(Phase phase) const {
    double sum = 0;
    const PhaseRange& covered = range(phase);
    for (std::int32_t g = covered.first_group; g < covered.first_group + covered.group_count; ++g) {
        const StepGroup& group = groups[static_cast<std::size_t>(g)];
        for (std::int32_t s = group.first_step; s < group.first_step + group.step_count; ++s) {
            sum += steps[static_cast<std::size_t>(s)].flops;
        }
    }
    return sum;
}

}  // namespace causeway
