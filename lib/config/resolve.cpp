#include "config/resolve.hpp"

#include "config/families/family.hpp"

namespace causeway::config {
namespace {

void derive(std::int64_t& field, std::int64_t value) {
    if (field == 0) field = value;
}

}  // namespace

void resolve_derived(Config& config) {
    ModelConfig& model = config.model;
    const Family* family = find_family(model.model_type);
    if (family != nullptr && family->derive != nullptr) family->derive(model);
    derive(model.num_key_value_heads, model.num_attention_heads);
    if (model.hidden_size % model.num_attention_heads == 0) {
        derive(model.head_dim, model.hidden_size / model.num_attention_heads);
    }
    if (model.mlp != MlpKind::none) derive(model.intermediate_size, 4 * model.hidden_size);
    if (model.num_experts > 0) derive(model.moe_intermediate_size, model.intermediate_size);
    derive(config.train.sequence_length, model.max_position_embeddings);
    if (!config.data.is_task()) derive(config.data.validation_stride, config.train.sequence_length);
}

}  // namespace causeway::config
