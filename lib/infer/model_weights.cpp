#include "infer/model_weights.hpp"

#include "compile/compile.hpp"

namespace causeway {

ModelWeights::ModelWeights(const Config& config) {
    CompileOptions options;
    options.mode = Mode::prefill;
    options.batch = 1;
    options.sequence_length = 1;
    SharedLayout shared;
    const ExecutionPlan plan = compile(config, options, shared);
    for (const std::int32_t i : plan.with_role(Role::parameter)) {
        const PlannedValue& value = plan.values[static_cast<std::size_t>(i)];
        if (value.storage != i) continue;
        buffers_.emplace_back(static_cast<std::size_t>(value.desc.bytes()));
        tensors_.push_back({value.name, {buffers_.back().data(), value.desc}});
    }
}

std::int64_t ModelWeights::count() const {
    std::int64_t count = 0;
    for (const NamedTensor& tensor : tensors_) count += tensor.view.desc.stored_elements;
    return count;
}

}  // namespace causeway
