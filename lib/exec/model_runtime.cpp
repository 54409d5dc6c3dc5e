#include "exec/model_runtime.hpp"

#include <set>
#include <string>

#include "base/format.hpp"
#include "base/random_domain.hpp"
#include "causeway/error.hpp"
#include "exec/initialize.hpp"

namespace causeway {
namespace {

std::vector<std::unique_ptr<ExecutionPlan>> own(std::vector<ExecutionPlan> plans) {
    if (plans.empty()) throw GraphError("a model needs at least one plan");
    std::vector<std::unique_ptr<ExecutionPlan>> owned;
    for (ExecutionPlan& plan : plans) owned.push_back(std::make_unique<ExecutionPlan>(std::move(plan)));
    return owned;
}

std::vector<const ExecutionPlan*> views(const std::vector<std::unique_ptr<ExecutionPlan>>& plans) {
    std::vector<const ExecutionPlan*> result;
    for (const auto& plan : plans) result.push_back(plan.get());
    return result;
}

}  // namespace

ModelRuntime::ModelRuntime(std::vector<ExecutionPlan> plans, int threads, std::size_t memory_limit)
    : plans_(own(std::move(plans))), pool_(threads), arena_(views(plans_), memory_limit) {
    arena_.touch(pool_);
    for (const auto& plan : plans_) executors_.emplace_back(*plan, arena_, pool_);
    // Plans share tables and packed copies by name: each is made once.
    std::set<std::string> known;
    for (Executor& executor : executors_) {
        for (std::int32_t i : executor.plan().with_role(Role::constant)) {
            const PlannedValue& value = executor.plan().values[static_cast<std::size_t>(i)];
            if (known.insert(value.name).second) causeway::initialize(value, executor.view(i).data, 0, 0);
        }
        bool packs = false;
        for (std::int32_t i : executor.plan().with_role(Role::packed)) {
            packs = known.insert(executor.plan().values[static_cast<std::size_t>(i)].name).second || packs;
        }
        if (packs) packers_.push_back(&executor);
    }
}

Executor& ModelRuntime::executor(std::string_view mode) {
    for (Executor& executor : executors_) {
        if (executor.plan().mode == mode) return executor;
    }
    throw GraphError(fmt::format("the model was not compiled for mode '{}'", mode));
}

std::vector<NamedTensor> ModelRuntime::tensors_with_role(Role role) {
    std::vector<NamedTensor> tensors;
    Executor& executor = executors_.front();
    for (std::int32_t i : executor.plan().with_role(role)) {
        const PlannedValue& value = executor.plan().values[static_cast<std::size_t>(i)];
        if (value.storage == i) tensors.push_back({value.name, executor.view(i)});
    }
    return tensors;
}

std::vector<NamedTensor> ModelRuntime::parameters() { return tensors_with_role(Role::parameter); }
std::vector<NamedTensor> ModelRuntime::gradients() { return tensors_with_role(Role::gradient); }
std::vector<NamedTensor> ModelRuntime::moments() { return tensors_with_role(Role::state); }

std::int64_t ModelRuntime::parameter_count() {
    std::int64_t count = 0;
    for (const NamedTensor& tensor : parameters()) count += tensor.view.desc.stored_elements;
    return count;
}

void ModelRuntime::initialize(std::uint64_t seed) {
    Executor& executor = executors_.front();
    std::uint64_t parameter = 0;
    for (std::int32_t i : executor.plan().with_role(Role::parameter)) {
        const PlannedValue& value = executor.plan().values[static_cast<std::size_t>(i)];
        if (value.storage == i)
            causeway::initialize(value, executor.view(i).data, seed,
                                 stream_of(RandomDomain::initialisation, parameter++));
    }
    refresh();
}

void ModelRuntime::refresh() {
    for (Executor* executor : packers_) executor->run(Phase::pack, {});
}

}  // namespace causeway
