#include <nlohmann/json.hpp>

#include "inspect/plan_dump.hpp"
#include "inspect/plan_view.hpp"

namespace causeway {
namespace {

using Json = nlohmann::ordered_json;

Json shape_json(const Shape& shape) {
    Json extents = Json::array();
    for (std::int64_t extent : shape.extents()) extents.push_back(extent);
    return extents;
}

void add_place(Json& json, BufferRef place) {
    json["region"] = place ? Json(region_name(place.region)) : Json();
    json["offset"] = place ? Json(place.offset) : Json();
}

Json summary_json(const PlanSummary& s) {
    return {{"parameters", s.parameters},
            {"active_parameters", s.active_parameters},
            {"tokens", s.tokens},
            {"steps", s.steps},
            {"groups", s.groups},
            {"parallel_groups", s.parallel_groups},
            {"parameter_bytes", s.parameter_bytes},
            {"constant_bytes", s.constant_bytes},
            {"packed_bytes", s.packed_bytes},
            {"gradient_bytes", s.gradient_bytes},
            {"moment_bytes", s.moment_bytes},
            {"cache_bytes", s.cache_bytes},
            {"scratch_bytes", s.scratch_bytes},
            {"scratch_bytes_without_reuse", s.scratch_without_reuse},
            {"total_bytes", s.total_bytes},
            {"flops_step", s.flops_step},
            {"flops_update", s.flops_update},
            {"flops_pack", s.flops_pack},
            {"flops_per_token", s.flops_per_token},
            {"predicted_seconds_step", s.seconds_step},
            {"predicted_seconds_update", s.seconds_update},
            {"predicted_seconds_pack", s.seconds_pack}};
}

Json value_json(const PlannedValue& value) {
    Json json{{"name", value.name},
              {"role", to_string(value.role)},
              {"dtype", std::string(to_string(value.desc.dtype))},
              {"shape", shape_json(value.desc.shape)},
              {"bytes", value.desc.bytes()}};
    add_place(json, value.place);
    json["first_group"] = value.first_group;
    json["last_group"] = value.last_group;
    json["storage"] = value.storage;
    json["trainable"] = value.trainable;
    json["kept"] = value.kept;
    return json;
}

Json node_json(const PlannedNode& node) {
    Json json{{"name", node.name},
              {"op", node.op},
              {"attributes", node.attributes},
              {"inputs", node.inputs},
              {"outputs", node.outputs},
              {"first_group", node.first_group},
              {"last_group", node.last_group}};
    Json workspace{{"bytes", node.workspace_bytes}};
    add_place(workspace, node.workspace_bytes > 0 ? node.workspace : BufferRef{});
    json["workspace"] = std::move(workspace);
    return json;
}

Json shapes_json(const PlanView& view, const std::vector<std::int32_t>& values) {
    Json shapes = Json::array();
    for (std::int32_t index : values) {
        shapes.push_back(index < 0 ? Json() : shape_json(view.value(index).desc.shape));
    }
    return shapes;
}

Json step_json(const PlanView& view, std::size_t index) {
    const Step& step = view.plan().steps[index];
    const PlannedNode& node = view.node_of(step);
    const std::int32_t group = view.group_of_step(index);
    return {{"step", index},
            {"group", group},
            {"phase", std::string(to_string(view.phase_of_group(group)))},
            {"op", step.op},
            {"name", step.name},
            {"node", step.node},
            {"input_shapes", shapes_json(view, node.inputs)},
            {"output_shapes", shapes_json(view, node.outputs)},
            {"tiles", step.tiles},
            {"flops", step.flops},
            {"bytes", step.bytes},
            {"predicted_seconds", step.predicted_seconds},
            {"parallel", view.plan().groups[static_cast<std::size_t>(group)].parallel}};
}

Json group_json(const StepGroup& group) {
    return {{"first_step", group.first_step},
            {"step_count", group.step_count},
            {"tiles", group.tiles},
            {"predicted_seconds", group.predicted_seconds},
            {"parallel", group.parallel}};
}

Json recompute_json(const RecomputeCost& cost) {
    return {{"choice", cost.choice},
            {"chosen", cost.chosen},
            {"scratch_bytes", cost.scratch_bytes},
            {"total_bytes", cost.total_bytes},
            {"flops_step", cost.flops_step},
            {"predicted_seconds_step", cost.predicted_seconds_step}};
}

Json cores_json(const ExecutionPlan& plan, const CoreScaling& on) {
    Json json{{"cores", on.cores}, {"seconds", on.seconds}, {"speed_up", on.speed_up}};
    json["groups"] = Json::array();
    for (const GroupScaling& group : on.groups) {
        if (group.lost_seconds <= 0) break;
        json["groups"].push_back({{"group", group.group},
                                  {"steps", group_label(plan, group.group)},
                                  {"work_seconds", group.work_seconds},
                                  {"seconds", group.seconds},
                                  {"lost_seconds", group.lost_seconds},
                                  {"sharing_seconds", group.sharing_seconds}});
    }
    return json;
}

Json scaling_json(const ExecutionPlan& plan, const PartScaling& part) {
    Json json{{"part", part.part},
              {"work_seconds", part.work_seconds},
              {"span_seconds", part.span_seconds},
              {"serial_seconds", part.serial_seconds}};
    json["cores"] = Json::array();
    for (const CoreScaling& on : part.cores) json["cores"].push_back(cores_json(plan, on));
    return json;
}

}  // namespace

std::string plan_json(const ExecutionPlan& plan, const PlanTables& tables) {
    const PlanView view(plan);
    Json json{{"mode", plan.mode},
              {"dtype", std::string(to_string(plan.dtype))},
              {"isa", std::string(to_string(plan.isa))},
              {"memory_reuse", plan.memory_reuse},
              {"summary", summary_json(summarize(plan))}};
    for (std::size_t r = 0; r < region_count; ++r) {
        json["region_bytes"][region_name(static_cast<Region>(r))] = plan.memory.region_bytes[r];
    }
    for (Phase phase : all_phases) {
        const PhaseRange& range = plan.range(phase);
        json["phases"][std::string(to_string(phase))] = {{"first_group", range.first_group},
                                                         {"group_count", range.group_count}};
    }
    json["groups"] = json["steps"] = json["nodes"] = json["values"] = Json::array();
    for (const StepGroup& group : plan.groups) json["groups"].push_back(group_json(group));
    for (std::size_t i = 0; i < plan.steps.size(); ++i) json["steps"].push_back(step_json(view, i));
    for (const PlannedNode& node : plan.nodes) json["nodes"].push_back(node_json(node));
    for (const PlannedValue& value : plan.values) json["values"].push_back(value_json(value));
    for (const RecomputeCost& cost : tables.recompute) json["recompute"].push_back(recompute_json(cost));
    for (const PartScaling& part : tables.scaling) json["scaling"].push_back(scaling_json(plan, part));
    return json.dump(2) + "\n";
}

}  // namespace causeway
