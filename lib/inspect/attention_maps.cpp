#include "inspect/attention_maps.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "data/tokens.hpp"
#include "io/npy.hpp"

namespace causeway {
namespace {

void require_index(const char* what, std::int64_t index, std::int64_t count) {
    if (index < 0 || index >= count) {
        throw DataError(fmt::format("{} {} does not exist: there are {} (0 to {})", what, index, count, count - 1));
    }
}

ModelRuntime make_runtime(const Config& config, std::int64_t batch, std::int64_t length,
                          const std::optional<AttentionMask>& mask) {
    if (length < 1 || length > config.model.max_position_embeddings) {
        throw DataError(fmt::format("{} tokens were given; the model takes 1 to {} (model.max_position_embeddings)",
                                    length, config.model.max_position_embeddings));
    }
    CompileOptions options;
    options.mode = Mode::inspect;
    options.batch = batch;
    options.sequence_length = length;
    if (mask) options.mask = mask->shape;
    SharedLayout layout;
    std::vector<ExecutionPlan> plans;
    plans.push_back(compile(config, options, layout));
    return ModelRuntime(std::move(plans), static_cast<int>(config.runtime.threads),
                        config.runtime.memory_limit_bytes());
}

/// The outputs "weights" of the explicit attention nodes, in the order of the layers.
std::vector<std::int32_t> weight_values(const ExecutionPlan& plan) {
    std::vector<std::int32_t> found;
    for (const PlannedNode& node : plan.nodes) {
        if (node.op == "attention_explicit") found.push_back(node.outputs.at(1));
    }
    return found;
}

}  // namespace

std::span<const float> AttentionMaps::map(std::int64_t layer, std::int64_t sequence, std::int64_t head) const {
    require_index("layer", layer, layers);
    require_index("sequence", sequence, batch);
    require_index("head", head, heads);
    const std::int64_t size = length * length;
    const std::int64_t first = ((layer * batch + sequence) * heads + head) * size;
    return std::span(weights).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size));
}

std::int64_t AttentionMaps::visible_keys(std::int64_t t) const {
    const std::int64_t before = window == 0 ? t : std::min(t, causal ? window - 1 : window);
    const std::int64_t after = causal ? 0 : window == 0 ? length - 1 - t : std::min(length - 1 - t, window);
    return before + 1 + after;
}

AttentionInspector::AttentionInspector(const Config& config, std::int64_t batch, std::int64_t length,
                                       const std::optional<AttentionMask>& mask)
    : config_(config),
      batch_(batch),
      length_(length),
      mask_(mask),
      runtime_(make_runtime(config, batch, length, mask)) {}

AttentionMaps AttentionInspector::run(std::span<const std::int32_t> ids) {
    if (static_cast<std::int64_t>(ids.size()) != batch_ * length_) {
        throw DataError(fmt::format("{} sequences of {} tokens need {} ids, found {}", batch_, length_,
                                    batch_ * length_, ids.size()));
    }
    check_tokens(ids, config_.model.vocab_size, "text");
    Executor& executor = runtime_.executor("inspect");
    std::ranges::copy(ids, executor.values<std::int32_t>("tokens").begin());
    if (mask_) std::ranges::copy(mask_->visible, executor.values<std::uint8_t>("mask").begin());
    executor.run(Phase::step, {});
    AttentionMaps maps{
        config_.model.num_hidden_layers, batch_, config_.model.num_attention_heads, length_, {}, config_.model.causal,
        config_.model.sliding_window};
    for (std::int32_t value : weight_values(executor.plan())) {
        const std::span<const float> weights = executor.values<float>(value);
        maps.weights.insert(maps.weights.end(), weights.begin(), weights.end());
    }
    return maps;
}

void write_attention_npy(const std::string& path, const AttentionMaps& maps, std::int64_t sequence) {
    require_index("sequence", sequence, maps.batch);
    const Shape shape{maps.layers, maps.heads, maps.length, maps.length};
    std::vector<float> weights;
    weights.reserve(static_cast<std::size_t>(shape.elements()));
    for (std::int64_t layer = 0; layer < maps.layers; ++layer) {
        for (std::int64_t head = 0; head < maps.heads; ++head) {
            const std::span<const float> map = maps.map(layer, sequence, head);
            weights.insert(weights.end(), map.begin(), map.end());
        }
    }
    write_npy(path, TensorDesc(DType::f32, shape), weights.data());
}

}  // namespace causeway
