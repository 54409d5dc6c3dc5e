#include "config/families/family.hpp"

namespace causeway::config {

// Radford et al. 2019; transformers' configuration_gpt2.py.
Family gpt2_family() {
    Family family{.model_type = "gpt2", .architecture = "GPT2LMHeadModel", .defaults = {}, .fields = {}};
    ModelConfig& model = family.defaults;
    model.model_type = family.model_type;
    model.vocab_size = 50257;
    model.hidden_size = 768;
    model.num_hidden_layers = 12;
    model.num_attention_heads = 12;
    model.max_position_embeddings = 1024;
    model.attention_dropout = 0.1;
    model.embd_pdrop = 0.1;
    model.resid_pdrop = 0.1;
    family.fields = {{"vocab_size", "vocab_size"},
                     {"max_position_embeddings", "n_positions"},
                     {"hidden_size", "n_embd"},
                     {"num_hidden_layers", "n_layer"},
                     {"num_attention_heads", "n_head"},
                     {"intermediate_size", "n_inner"},
                     {"hidden_act", "activation_function"},
                     {"resid_pdrop", "resid_pdrop"},
                     {"embd_pdrop", "embd_pdrop"},
                     {"attention_dropout", "attn_pdrop"},
                     {"layer_norm_epsilon", "layer_norm_epsilon"},
                     {"initializer_range", "initializer_range"},
                     {"tie_word_embeddings", "tie_word_embeddings"},
                     {"init", ""}};
    family.fixed = {{"scale_attn_weights", true},
                    {"scale_attn_by_inverse_layer_idx", false},
                    {"reorder_and_upcast_attn", false},
                    {"add_cross_attention", false}};
    family.harmless = {"n_ctx",
                       "n_special",
                       "predict_special_tokens",
                       "summary_type",
                       "summary_use_proj",
                       "summary_activation",
                       "summary_proj_to_labels",
                       "summary_first_dropout"};
    return family;
}

}  // namespace causeway::config
