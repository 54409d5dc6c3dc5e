#include <fmt/format.h>

#include <algorithm>

#include "inspect/plan_scaling.hpp"
#include "inspect/plan_view.hpp"
#include "inspect/text_table.hpp"
#include "inspect/units.hpp"

namespace causeway {
namespace {

using Align = TextTable::Align;

std::string percent(double part, double of) { return fmt::format("{:.1f} %", of > 0 ? 100 * part / of : 0); }

/// What keeps a group from running faster, as far as its plan shows it.
std::string reason(const StepGroup& group, int cores) {
    if (!group.parallel) return "serial";
    if (group.tiles < 4 * cores) return fmt::format("{} tiles", group.tiles);
    return "joining";
}

std::string part_text(const ExecutionPlan& plan, const PartScaling& part) {
    std::string text =
        fmt::format("{}: work {}, span {}, serial groups {}; at most {:.1f} times as fast\n", part.part,
                    seconds_text(part.work_seconds), seconds_text(part.span_seconds), seconds_text(part.serial_seconds),
                    part.span_seconds > 0 ? part.work_seconds / part.span_seconds : 1);
    TextTable table({{"cores", Align::right},
                     {"time", Align::right},
                     {"speed-up", Align::right},
                     {"efficiency", Align::right},
                     {"loses most"},
                     {"because"},
                     {"share", Align::right}});
    for (const CoreScaling& on : part.cores) {
        std::vector<std::string> cells{fmt::format("{}", on.cores), seconds_text(on.seconds),
                                       fmt::format("{:.2f}", on.speed_up), percent(on.speed_up, on.cores)};
        if (!on.groups.empty() && on.groups.front().lost_seconds > 0) {
            const GroupScaling& worst = on.groups.front();
            cells.push_back(group_label(plan, worst.group));
            cells.push_back(reason(plan.groups[static_cast<std::size_t>(worst.group)], on.cores));
            cells.push_back(percent(worst.lost_seconds, on.seconds));
        }
        table.add(std::move(cells));
    }
    return text + table.str();
}

std::string losses_text(const ExecutionPlan& plan, const PartScaling& part) {
    constexpr std::size_t most = 8;
    const CoreScaling& on = part.cores.back();
    const PlanView view(plan);
    TextTable table({{"group", Align::right},
                     {"phase"},
                     {"step"},
                     {"run"},
                     {"tiles", Align::right},
                     {"work", Align::right},
                     {"time", Align::right},
                     {"lost", Align::right},
                     {"share", Align::right}});
    for (std::size_t i = 0; i < std::min(most, on.groups.size()); ++i) {
        const GroupScaling& lossy = on.groups[i];
        if (lossy.lost_seconds <= 0) break;
        const StepGroup& group = plan.groups[static_cast<std::size_t>(lossy.group)];
        table.add({fmt::format("{}", lossy.group), std::string(to_string(view.phase_of_group(lossy.group))),
                   group_label(plan, lossy.group), group.parallel ? "parallel" : "serial",
                   fmt::format("{}", group.tiles), seconds_text(lossy.work_seconds), seconds_text(lossy.seconds),
                   seconds_text(lossy.lost_seconds), percent(lossy.lost_seconds, on.seconds)});
    }
    return fmt::format("groups of the {} that lose the most on {} cores: time beyond work / cores\n{}", part.part,
                       on.cores, table.str());
}

}  // namespace

std::string group_label(const ExecutionPlan& plan, std::int32_t index) {
    const StepGroup& group = plan.groups[static_cast<std::size_t>(index)];
    const auto first = plan.steps.begin() + group.first_step;
    const auto largest = std::max_element(first, first + group.step_count, [](const Step& a, const Step& b) {
        return a.predicted_seconds < b.predicted_seconds;
    });
    return group.step_count > 1 ? fmt::format("{} +{}", largest->name, group.step_count - 1) : largest->name;
}

std::string scaling_text(const ExecutionPlan& plan, const std::vector<PartScaling>& parts) {
    std::string text;
    for (const PartScaling& part : parts) text += part_text(plan, part) + "\n";
    if (!parts.empty() && !parts.front().cores.empty() && parts.front().cores.back().cores > 1) {
        text += losses_text(plan, parts.front());
    }
    return text;
}

}  // namespace causeway
