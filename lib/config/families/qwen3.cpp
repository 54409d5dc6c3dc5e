#include "base/format.hpp"
#include "config/families/family.hpp"

namespace causeway::config {
namespace {

constexpr std::int64_t default_max_window_layers = 28;

bool is_true(const Json& values, const char* key) {
    const auto found = values.find(key);
    return found != values.end() && found->is_boolean() && found->get<bool>();
}

/// How many layers a window applies to, as far as the keys say: none, all, or no answer yet.
enum class Windowed { none, all, as_given };

Windowed by_layer_types(const Json& types, const Where& where) {
    if (!types.is_array() || types.empty()) fail_value(inside(where, "layer_types"), types, "an array");
    for (const Json& type : types) {
        if (type != "full_attention" && type != "sliding_attention") {
            fail_value(inside(where, "layer_types"), type, "full_attention or sliding_attention");
        }
        if (type != types.front()) {
            fail(inside(where, "layer_types"),
                 "found both full_attention and sliding_attention, expected the same kind in all layers: a mixture is "
                 "not supported");
        }
    }
    return types.front() == "sliding_attention" ? Windowed::all : Windowed::none;
}

/// The first max_window_layers layers see everything.
Windowed by_first_layers(const Json& values, const Where& where, std::int64_t default_layers) {
    const auto whole = [&](const char* key, std::int64_t otherwise) {
        const auto found = values.find(key);
        return found != values.end() && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
    };
    const std::int64_t full = whole("max_window_layers", default_max_window_layers);
    const std::int64_t layers = whole("num_hidden_layers", default_layers);
    if (full <= 0) return Windowed::all;
    if (full >= layers) return Windowed::none;
    fail(inside(where, "max_window_layers"),
         fmt::format("found {} of {} layers without a window, expected 0 or all of them: a mixture is not supported",
                     full, layers));
}

/// Leaves sliding_window alone as what says which window there is.
void rewrite_window(Json& values, const Where& where, bool first_layers_are_full) {
    Windowed windowed = Windowed::as_given;
    const auto use = values.find("use_sliding_window");
    const auto types = values.find("layer_types");
    if (use != values.end() && !use->is_null() && !use->is_boolean()) {
        fail_value(inside(where, "use_sliding_window"), *use, "true or false");
    }
    if (use != values.end() && !is_true(values, "use_sliding_window")) {
        windowed = Windowed::none;
    } else if (types != values.end() && !types->is_null()) {
        windowed = by_layer_types(*types, where);
    } else if (first_layers_are_full && is_true(values, "use_sliding_window")) {
        windowed = by_first_layers(values, where, qwen3_family().defaults.num_hidden_layers);
    }
    if (windowed == Windowed::none) values.erase("sliding_window");
    if (windowed == Windowed::all && !values.contains("sliding_window")) values["sliding_window"] = 4096;
    for (const char* key : {"use_sliding_window", "layer_types", "max_window_layers"}) values.erase(key);
}

void rewrite_dense(Json& values, const Where& where) { rewrite_window(values, where, true); }
void rewrite_moe(Json& values, const Where& where) { rewrite_window(values, where, false); }

void add_window_keys(Json& values, const ModelConfig& model) {
    const bool windowed = model.sliding_window != 0;
    values["use_sliding_window"] = windowed;
    values["sliding_window"] = windowed ? Json(model.sliding_window) : Json(nullptr);
    if (model.num_experts == 0) {
        values["max_window_layers"] = windowed ? 0 : model.num_hidden_layers;
        values["layer_types"] = std::vector<std::string>(static_cast<std::size_t>(model.num_hidden_layers),
                                                         windowed ? "sliding_attention" : "full_attention");
    }
}

void add_dense_keys(Json& values, const ModelConfig& model) {
    add_rope_keys(values, model);
    add_window_keys(values, model);
}

void add_moe_keys(Json& values, const ModelConfig& model) {
    add_dense_keys(values, model);
    values["decoder_sparse_step"] = 1;
    values["mlp_only_layers"] = Json::array();
}

}  // namespace

// Qwen team 2025, "Qwen3 Technical Report"; transformers' configuration_qwen3.py.
Family qwen3_family() {
    Family family = llama_family();
    family.model_type = "qwen3";
    family.architecture = "Qwen3ForCausalLM";
    ModelConfig& model = family.defaults;
    model.model_type = family.model_type;
    model.vocab_size = 151936;
    model.intermediate_size = 22016;
    model.num_key_value_heads = 32;
    model.head_dim = 128;
    model.max_position_embeddings = 32768;
    model.qk_norm = true;
    std::erase_if(family.fields, [](const FamilyField& field) { return field.field == "mlp_bias"; });
    family.fields.push_back({"sliding_window", ""});  // written by add_window_keys
    family.fixed = {};
    family.rewrite = rewrite_dense;
    family.add_keys = add_dense_keys;
    return family;
}

// transformers' configuration_qwen3_moe.py.
Family qwen3_moe_family() {
    Family family = qwen3_family();
    family.model_type = "qwen3_moe";
    family.architecture = "Qwen3MoeForCausalLM";
    ModelConfig& model = family.defaults;
    model.model_type = family.model_type;
    model.hidden_size = 2048;
    model.num_hidden_layers = 24;
    model.intermediate_size = 6144;
    model.num_key_value_heads = 4;
    model.head_dim = 0;
    model.num_experts = 128;
    model.num_experts_per_tok = 8;
    model.moe_intermediate_size = 768;
    model.norm_topk_prob = false;
    model.router_aux_loss_coef = 0.001;
    model.router_aux_loss_scope = AuxLossScope::model;
    for (const char* field :
         {"num_experts", "num_experts_per_tok", "moe_intermediate_size", "norm_topk_prob", "router_aux_loss_coef"}) {
        family.fields.push_back({field, field});
    }
    family.fields.push_back({"router_aux_loss_scope", ""});  // of training; no family has a key for it
    family.other_names = {{"num_experts", "num_local_experts"}};
    family.fixed = {{"decoder_sparse_step", 1}, {"mlp_only_layers", Json::array()}};
    family.harmless = {"output_router_logits"};
    family.rewrite = rewrite_moe;
    family.add_keys = add_moe_keys;
    return family;
}

}  // namespace causeway::config
