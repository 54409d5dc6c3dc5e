#include "causeway/program.hpp"

#include "api/program_impl.hpp"
#include "compile/compile.hpp"
#include "inspect/plan_dump.hpp"

namespace causeway {
namespace {

ExecutionPlan training_plan(const Config& config) {
    SharedLayout shared;
    return compile(config, CompileOptions{}, shared);
}

/// The first version of each learned tensor: later ones are the same memory after the update.
template <class F>
void for_each_parameter(const ExecutionPlan& plan, F&& f) {
    for (std::int32_t i : plan.with_role(Role::parameter)) {
        const PlannedValue& value = plan.values[static_cast<std::size_t>(i)];
        if (value.storage == i) f(value);
    }
}

}  // namespace

Program compile(const std::string& json, const std::vector<std::string>& overrides) {
    const Config config = parse_config(json, "config", overrides);
    return Program(std::make_shared<const Program::Impl>(Program::Impl{config, training_plan(config)}));
}

Program compile_file(const std::string& path, const std::vector<std::string>& overrides) {
    const Config config = load_config(path, overrides);
    return Program(std::make_shared<const Program::Impl>(Program::Impl{config, training_plan(config)}));
}

std::int64_t Program::parameter_count() const {
    std::int64_t count = 0;
    for_each_parameter(impl_->plan, [&](const PlannedValue& value) { count += value.desc.shape.elements(); });
    return count;
}

std::vector<ParameterInfo> Program::parameters() const {
    std::vector<ParameterInfo> infos;
    for_each_parameter(impl_->plan, [&](const PlannedValue& value) {
        const auto extents = value.desc.shape.extents();
        infos.push_back({value.name, {extents.begin(), extents.end()}});
    });
    return infos;
}

MemoryNeeds Program::memory() const {
    const MemoryPlan& memory = impl_->plan.memory;
    const auto bytes = [&](Region region) { return memory.region_bytes[static_cast<std::size_t>(region)]; };
    return {bytes(Region::parameters), bytes(Region::state), bytes(Region::scratch), memory.scratch_without_reuse};
}

double Program::flops_per_step() const {
    return impl_->plan.flops(Phase::step) * static_cast<double>(impl_->config.train.gradient_accumulation_steps);
}

std::string Program::isa() const { return std::string(to_string(impl_->plan.isa)); }
std::string Program::config() const { return to_json(impl_->config); }
std::string Program::text() const { return plan_text(impl_->plan); }

}  // namespace causeway
