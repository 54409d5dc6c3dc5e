#include "config/families/family.hpp"

namespace causeway::config {

// Touvron et al. 2023; transformers' configuration_llama.py.
Family llama_family() {
    Family family{.model_type = "llama", .architecture = "LlamaForCausalLM", .defaults = {}, .fields = {}};
    ModelConfig& model = family.defaults;
    model.model_type = family.model_type;
    model.vocab_size = 32000;
    model.hidden_size = 4096;
    model.num_hidden_layers = 32;
    model.num_attention_heads = 32;
    model.intermediate_size = 11008;
    model.max_position_embeddings = 2048;
    model.position_embedding = PositionKind::rope;
    model.norm = NormKind::rmsnorm;
    model.mlp = MlpKind::gated;
    model.hidden_act = Activation::silu;
    model.attention_bias = false;
    model.mlp_bias = false;
    model.tie_word_embeddings = false;
    model.init = InitKind::normal;
    family.fields = {{"vocab_size", "vocab_size"},
                     {"hidden_size", "hidden_size"},
                     {"intermediate_size", "intermediate_size"},
                     {"num_hidden_layers", "num_hidden_layers"},
                     {"num_attention_heads", "num_attention_heads"},
                     {"num_key_value_heads", "num_key_value_heads"},
                     {"head_dim", "head_dim"},
                     {"hidden_act", "hidden_act"},
                     {"max_position_embeddings", "max_position_embeddings"},
                     {"initializer_range", "initializer_range"},
                     {"rms_norm_eps", "rms_norm_eps"},
                     {"attention_bias", "attention_bias"},
                     {"attention_dropout", "attention_dropout"},
                     {"mlp_bias", "mlp_bias"},
                     {"tie_word_embeddings", "tie_word_embeddings"},
                     {"embd_pdrop", ""},
                     {"resid_pdrop", ""},
                     {"init", ""}};
    family.fixed = {{"pretraining_tp", 1}};
    family.add_keys = add_rope_keys;
    return family;
}

}  // namespace causeway::config
