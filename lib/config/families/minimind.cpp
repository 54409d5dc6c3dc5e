#include <cmath>
#include <numbers>

#include "config/families/family.hpp"

namespace causeway::config {
namespace {

/// The value under `key`, removed from the object; null when there is none.
Json take(Json& values, const char* key) {
    const auto found = values.find(key);
    if (found == values.end()) return nullptr;
    Json value = *found;
    values.erase(key);
    return value;
}

bool take_flag(Json& values, const char* key, const Where& where, bool otherwise) {
    const Json value = take(values, key);
    if (value.is_null()) return otherwise;
    if (!value.is_boolean()) fail_value(inside(where, key), value, "true or false");
    return value.get<bool>();
}

void set_if_absent(Json& values, const char* key, Json value) {
    if (!values.contains(key)) values[key] = std::move(value);
}

/// One probability for all three kinds of dropout.
void rewrite_dropout(Json& values) {
    const Json dropout = take(values, "dropout");
    if (dropout.is_null()) return;
    for (const char* key : {"attention_dropout", "embd_pdrop", "resid_pdrop"}) set_if_absent(values, key, dropout);
}

/// Without use_moe nothing is read of what describes experts. A config of Causeway's has no such key: there the number
/// of experts decides.
void rewrite_experts(Json& values, const Where& where) {
    if (!values.contains("use_moe")) return;
    if (take_flag(values, "use_moe", where, false)) {
        if (!values.contains("n_routed_experts")) set_if_absent(values, "num_experts", 4);
        return;
    }
    for (const char* key :
         {"num_experts", "n_routed_experts", "num_experts_per_tok", "moe_intermediate_size", "norm_topk_prob",
          "router_aux_loss_coef", "aux_loss_alpha", "n_shared_experts", "scoring_func", "seq_aux"}) {
        values.erase(key);
    }
}

/// Its YaRN for long contexts has fixed settings. rope_scaling is what the flag stands for, written out.
void rewrite_rope(Json& values, const Where& where) {
    if (!values.contains("inference_rope_scaling")) return;
    if (!take_flag(values, "inference_rope_scaling", where, false)) return;
    set_if_absent(values, "rope_scaling",
                  {{"rope_type", "yarn"},
                   {"factor", 16},
                   {"original_max_position_embeddings", 2048},
                   {"beta_fast", 32},
                   {"beta_slow", 1},
                   {"attention_factor", 1.0}});
}

void rewrite(Json& values, const Where& where) {
    rewrite_dropout(values);
    rewrite_experts(values, where);
    rewrite_rope(values, where);
}

/// The next multiple of 64 above pi times the width.
void derive(ModelConfig& model) {
    if (model.intermediate_size != 0) return;
    const double wide = static_cast<double>(model.hidden_size) * std::numbers::pi / 64.0;
    model.intermediate_size = static_cast<std::int64_t>(std::ceil(wide)) * 64;
}

}  // namespace

// github.com/jingyaogong/minimind, model/model_minimind.py. Its tensors have Qwen3's names and meanings, so it is
// exported as qwen3 or qwen3_moe.
Family minimind_family() {
    Family family = qwen3_moe_family();
    family.model_type = "minimind";
    family.architecture = "";
    ModelConfig& model = family.defaults;
    model.model_type = family.model_type;
    model.vocab_size = 6400;
    model.hidden_size = 768;
    model.num_hidden_layers = 8;
    model.num_attention_heads = 8;
    model.num_key_value_heads = 4;
    model.intermediate_size = 0;
    model.max_position_embeddings = 32768;
    model.rope_parameters.theta = 1e6;
    model.tie_word_embeddings = true;
    model.num_experts = 0;
    model.num_experts_per_tok = 1;
    model.moe_intermediate_size = 0;
    model.norm_topk_prob = true;
    model.router_aux_loss_coef = 5e-4;
    model.router_aux_loss_scope = AuxLossScope::layer;
    model.init = InitKind::pytorch;
    family.other_names = {{"num_experts", "n_routed_experts"}, {"router_aux_loss_coef", "aux_loss_alpha"}};
    std::erase_if(family.fields, [](const FamilyField& field) { return field.field == "attention_bias"; });
    family.fixed = {{"n_shared_experts", 0}, {"scoring_func", "softmax"}, {"seq_aux", false}};
    family.harmless = {"flash_attn"};
    family.rewrite = rewrite;
    family.derive = derive;
    family.add_keys = nullptr;
    return family;
}

}  // namespace causeway::config
