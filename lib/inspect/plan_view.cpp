#include "inspect/plan_view.hpp"

#include "base/format.hpp"
#include "inspect/units.hpp"

namespace causeway {

PlanView::PlanView(const ExecutionPlan& plan)
    : plan_(plan), group_of_step_(plan.steps.size()), phase_of_group_(plan.groups.size(), Phase::step) {
    for (std::size_t g = 0; g < plan.groups.size(); ++g) {
        const StepGroup& group = plan.groups[g];
        for (std::int32_t s = 0; s < group.step_count; ++s) {
            group_of_step_[static_cast<std::size_t>(group.first_step + s)] = static_cast<std::int32_t>(g);
        }
    }
    for (Phase phase : all_phases) {
        const PhaseRange& range = plan.range(phase);
        for (std::int32_t g = 0; g < range.group_count; ++g) {
            phase_of_group_[static_cast<std::size_t>(range.first_group + g)] = phase;
        }
    }
}

std::string PlanView::shapes(const std::vector<std::int32_t>& values) const {
    constexpr int most = 4;  // a node with dozens of inputs would make every line of a table as wide
    std::string text;
    int present = 0;
    for (std::int32_t index : values) {
        if (index < 0 || ++present > most) continue;
        if (!text.empty()) text += ' ';
        text += compact_text(value(index).desc.shape);
    }
    return present > most ? fmt::format("{} +{}", text, present - most) : text;
}

std::string region_name(Region region) {
    switch (region) {
        case Region::parameters:
            return "parameters";
        case Region::state:
            return "state";
        case Region::scratch:
            return "scratch";
    }
    return "?";
}

}  // namespace causeway
