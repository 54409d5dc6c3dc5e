#include "base/format.hpp"
#include "inspect/plan_dump.hpp"
#include "inspect/plan_view.hpp"
#include "inspect/text_table.hpp"
#include "inspect/units.hpp"

namespace causeway {
namespace {

using Align = TextTable::Align;

std::string place_text(BufferRef place) {
    return place ? fmt::format("{}+{}", region_name(place.region), place.offset) : "-";
}

std::string lifetime_text(const PlannedValue& value) {
    return fmt::format("[{},{}]", value.first_group, value.last_group);
}

std::string totals_text(const ExecutionPlan& plan) {
    const PlanSummary s = summarize(plan);
    std::string text = fmt::format("plan {}: {}, kernels {}, memory reuse {}\n", plan.mode, to_string(plan.dtype),
                                   to_string(plan.isa), plan.memory_reuse ? "on" : "off");
    text += fmt::format("{} steps in {} groups, {} of them parallel\n\n", s.steps, s.groups, s.parallel_groups);
    const auto line = [&](const char* what, const std::string& value) {
        text += fmt::format("{:<22}{}\n", what, value);
    };
    const auto bytes = [](std::int64_t count) { return bytes_text(static_cast<double>(count)); };
    line("parameters", fmt::format("{} ({})", count_text(s.parameters), bytes(s.parameter_bytes)));
    if (s.active_parameters != s.parameters) line("active a token", count_text(s.active_parameters));
    line("constants", bytes(s.constant_bytes));
    line("packed weights", bytes(s.packed_bytes));
    line("gradients", bytes(s.gradient_bytes));
    line("optimizer moments", bytes(s.moment_bytes));
    if (s.cache_bytes > 0) line("KV cache", bytes(s.cache_bytes));
    line("scratch, peak", fmt::format("{} ({} without reuse)", bytes(s.scratch_bytes), bytes(s.scratch_without_reuse)));
    line("memory in all", bytes(s.total_bytes));
    line("FLOPs a run", fmt::format("{} ({} a token, {} tokens)", quantity_text(s.flops_step),
                                    quantity_text(s.flops_per_token), count_text(s.tokens)));
    if (s.flops_update > 0) line("FLOPs an update", quantity_text(s.flops_update));
    line("predicted, one core", fmt::format("{} a run, {} an update, {} a repacking", seconds_text(s.seconds_step),
                                            seconds_text(s.seconds_update), seconds_text(s.seconds_pack)));
    return text;
}

std::string steps_text(const PlanView& view) {
    TextTable table({{"step", Align::right},
                     {"group", Align::right},
                     {"phase"},
                     {"run"},
                     {"op"},
                     {"name"},
                     {"shapes"},
                     {"dtype"},
                     {"place of the output"},
                     {"alive"},
                     {"tiles", Align::right},
                     {"FLOPs", Align::right},
                     {"bytes", Align::right},
                     {"predicted", Align::right}});
    const ExecutionPlan& plan = view.plan();
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
        const Step& step = plan.steps[i];
        const PlannedNode& node = view.node_of(step);
        const PlannedValue& output = view.value(node.outputs.front());
        const std::int32_t group = view.group_of_step(i);
        table.add({fmt::format("{}", i), fmt::format("{}", group), std::string(to_string(view.phase_of_group(group))),
                   plan.groups[static_cast<std::size_t>(group)].parallel ? "parallel" : "serial", step.op, step.name,
                   fmt::format("{} -> {}", view.shapes(node.inputs), view.shapes(node.outputs)),
                   std::string(to_string(output.desc.dtype)), place_text(output.place), lifetime_text(output),
                   fmt::format("{}", step.tiles), quantity_text(step.flops), bytes_text(step.bytes),
                   seconds_text(step.predicted_seconds)});
    }
    return table.str();
}

std::string values_text(const PlanView& view) {
    TextTable table({{"value"}, {"role"}, {"dtype"}, {"shape"}, {"place"}, {"alive"}, {"bytes", Align::right}});
    for (const PlannedValue& value : view.plan().values) {
        table.add({value.name, std::string(to_string(value.role)), std::string(to_string(value.desc.dtype)),
                   compact_text(value.desc.shape), place_text(value.place), lifetime_text(value),
                   count_text(value.desc.bytes())});
    }
    return table.str();
}

std::string workspaces_text(const PlanView& view) {
    TextTable table({{"workspace of"}, {"place"}, {"alive"}, {"bytes", Align::right}});
    bool any = false;
    for (const PlannedNode& node : view.plan().nodes) {
        if (node.workspace_bytes == 0) continue;
        any = true;
        table.add({node.name, place_text(node.workspace), fmt::format("[{},{}]", node.first_group, node.last_group),
                   count_text(node.workspace_bytes)});
    }
    return any ? fmt::format("\n{}", table.str()) : "";
}

}  // namespace

std::string plan_text(const ExecutionPlan& plan) {
    const PlanView view(plan);
    return totals_text(plan) + "\n" + steps_text(view) + "\n" + values_text(view) + workspaces_text(view);
}

}  // namespace causeway
