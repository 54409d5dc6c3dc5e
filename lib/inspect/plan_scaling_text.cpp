#include <algorithm>
#include <functional>
#include <ranges>

#include "base/format.hpp"
#include "inspect/plan_scaling.hpp"
#include "inspect/plan_view.hpp"
#include "inspect/text_table.hpp"
#include "inspect/units.hpp"

namespace causeway {
namespace {

using Align = TextTable::Align;

std::string percent(double part, double of) { return fmt::format("{:.1f} %", of > 0 ? 100 * part / of : 0); }

/// What keeps a group from running faster, as far as its plan shows it.
std::string reason(const StepGroup& group, const GroupScaling& scaling) {
    if (!group.parallel) return "serial";
    if (scaling.sharing_seconds > scaling.lost_seconds / 2) return "sharing";
    return fmt::format("{} tiles", group.tiles);
}

std::string part_text(const ExecutionPlan& plan, const PartScaling& part) {
    const double limit = part.span_seconds > 0 ? part.work_seconds / part.span_seconds : 1;
    const std::string text = fmt::format("{}: work {}, span {}, serial groups {}; at most {:.{}f} times as fast\n",
                                         part.part, seconds_text(part.work_seconds), seconds_text(part.span_seconds),
                                         seconds_text(part.serial_seconds), limit, limit < 100 ? 1 : 0);
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
            cells.push_back(reason(plan.groups[static_cast<std::size_t>(worst.group)], worst));
            cells.push_back(percent(worst.lost_seconds, on.seconds));
        }
        table.add(std::move(cells));
    }
    return text + table.str();
}

/// A name with its whole numbers between dots as stars, the same for all layers: "h.*.mlp.proj".
std::string without_layer(const std::string& name) {
    std::string out;
    for (std::size_t at = 0; at < name.size();) {
        const std::size_t dot = std::min(name.find('.', at), name.size());
        const std::string part = name.substr(at, dot - at);
        const bool number = std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
        out += (at > 0 ? "." : "") + (number ? "*" : part);
        at = dot + 1;
    }
    return out;
}

/// Groups that differ in their layer only.
struct LikeGroups {
    std::string label;
    std::int32_t first;  ///< of them, in the plan
    int count = 0;
    double work_seconds = 0, seconds = 0, lost_seconds = 0;
};

/// Most lost time first.
std::vector<LikeGroups> merge_layers(const ExecutionPlan& plan, const CoreScaling& on) {
    const auto group_of = [&](std::int32_t index) -> const StepGroup& {
        return plan.groups[static_cast<std::size_t>(index)];
    };
    std::vector<LikeGroups> merged;
    for (const GroupScaling& one : on.groups) {
        const std::string label = without_layer(group_label(plan, one.group));
        auto like = std::ranges::find_if(merged, [&](const LikeGroups& other) {
            return other.label == label && group_of(other.first).tiles == group_of(one.group).tiles;
        });
        if (like == merged.end()) like = merged.insert(like, {label, one.group});
        ++like->count;
        like->work_seconds += one.work_seconds;
        like->seconds += one.seconds;
        like->lost_seconds += one.lost_seconds;
    }
    std::ranges::stable_sort(merged, std::greater<>(), &LikeGroups::lost_seconds);
    return merged;
}

std::string losses_text(const ExecutionPlan& plan, const PartScaling& part) {
    constexpr std::size_t most = 10;
    const CoreScaling& on = part.cores.back();
    const PlanView view(plan);
    TextTable table({{"groups", Align::right},
                     {"phase"},
                     {"step"},
                     {"run"},
                     {"tiles", Align::right},
                     {"work", Align::right},
                     {"time", Align::right},
                     {"lost", Align::right},
                     {"share", Align::right}});
    for (const LikeGroups& like : merge_layers(plan, on) | std::views::take(most)) {
        if (like.lost_seconds <= 0) break;
        const StepGroup& group = plan.groups[static_cast<std::size_t>(like.first)];
        table.add({fmt::format("{}", like.count), std::string(to_string(view.phase_of_group(like.first))), like.label,
                   group.parallel ? "parallel" : "serial", fmt::format("{}", group.tiles),
                   seconds_text(like.work_seconds), seconds_text(like.seconds), seconds_text(like.lost_seconds),
                   percent(like.lost_seconds, on.seconds)});
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
        text += losses_text(plan, parts.front()) + "\n";
    }
    return text +
           "Predicted from the plan's own costs, with memory that keeps up with all cores: where it does not, steps\n"
           "that move much and compute little (adamw) gain less.\n";
}

}  // namespace causeway
