#include <algorithm>
#include <array>

#include "config/families/family.hpp"
#include "config/field_table.hpp"

namespace causeway::config {
namespace {

bool is_free(const Family& family, const std::string& field) {
    if (field == "model_type") return true;
    // rope_parameters.interleaved is Causeway's own.
    if (field.starts_with("rope_parameters.") && family.defaults.position_embedding == PositionKind::rope) {
        return field != "rope_parameters.interleaved";
    }
    return std::any_of(family.fields.begin(), family.fields.end(),
                       [&](const FamilyField& free) { return free.field == field; });
}

/// Fields that mean nothing in a model without experts.
bool is_moot(const ModelConfig& model, const std::string& field) {
    constexpr std::array of_experts{"num_experts_per_tok", "moe_intermediate_size", "norm_topk_prob",
                                    "router_aux_loss_coef", "router_aux_loss_scope"};
    return model.num_experts == 0 && std::find(of_experts.begin(), of_experts.end(), field) != of_experts.end();
}

std::string key_in(const std::vector<FamilyField>& fields, const std::string& key) {
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const FamilyField& f) { return f.key == key; });
    return found == fields.end() ? "" : found->field;
}

}  // namespace

const std::vector<Family>& families() {
    static const std::vector<Family> all{gpt2_family(), llama_family(), qwen3_family(), qwen3_moe_family(),
                                         minimind_family()};
    return all;
}

const Family* find_family(const std::string& model_type) {
    const auto& all = families();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Family& family) { return family.model_type == model_type; });
    return found == all.end() ? nullptr : &*found;
}

std::vector<std::string> model_types() {
    std::vector<std::string> names{"causeway"};
    for (const Family& family : families()) names.push_back(family.model_type);
    return names;
}

std::string field_of_key(const Family& family, const std::string& key) {
    if (key == "rope_theta" && family.defaults.position_embedding == PositionKind::rope) {
        return "rope_parameters.rope_theta";
    }
    const std::string field = key_in(family.fields, key);
    return field.empty() ? key_in(family.other_names, key) : field;
}

std::optional<Misfit> misfit(const Family& family, const ModelConfig& model) {
    Config given, expected;
    given.model = model;
    expected.model = family.defaults;
    // Where the family has one MLP, or heads that fill the width, the defaults derive from the model's own sizes.
    if (!is_free(family, "num_key_value_heads")) expected.model.num_key_value_heads = model.num_attention_heads;
    if (!is_free(family, "head_dim")) expected.model.head_dim = model.hidden_size / model.num_attention_heads;
    for (const Field& field : find_section("model")->fields) {
        if (is_free(family, field.key) || is_moot(model, field.key)) continue;
        const Json found = field.write(given), wanted = field.write(expected);
        if (found != wanted) return Misfit{field.key, found, wanted};
    }
    return std::nullopt;
}

void add_rope_keys(Json& values, const ModelConfig& model) {
    Config config;
    config.model = model;
    Json rope = Json::object();
    for (const Field& field : find_section("model")->fields) {
        const std::string prefix = "rope_parameters.";
        if (!field.key.starts_with(prefix)) continue;
        rope[field.key.substr(prefix.size())] = field.write(config);
    }
    const RopeConfig& given = model.rope_parameters;
    const auto keep = [&](bool used, const char* key) {
        if (!used) rope.erase(key);
    };
    keep(false, "interleaved");
    keep(given.type != RopeType::unscaled, "factor");
    const bool has_original = given.type != RopeType::unscaled && given.type != RopeType::linear;
    keep(has_original, "original_max_position_embeddings");
    if (has_original && given.original_max_position_embeddings == 0) {
        rope["original_max_position_embeddings"] = model.max_position_embeddings;
    }
    keep(given.type == RopeType::llama3, "low_freq_factor");
    keep(given.type == RopeType::llama3, "high_freq_factor");
    keep(given.type == RopeType::yarn, "beta_fast");
    keep(given.type == RopeType::yarn, "beta_slow");
    keep(given.type == RopeType::yarn && given.attention_factor != 0, "attention_factor");
    values["rope_parameters"] = rope;
    values["rope_theta"] = given.theta;
    values["rope_scaling"] = given.type == RopeType::unscaled ? Json(nullptr) : rope;
}

}  // namespace causeway::config
