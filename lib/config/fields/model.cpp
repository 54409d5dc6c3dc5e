#include "config/families/family.hpp"
#include "config/fields/fields.hpp"

namespace causeway::config {
namespace {

void add_rope(SectionBuilder<ModelConfig>& model) {
    const auto add = [&](const char* key, auto member, const auto& type, const char* doc) {
        model.add_member(std::string("rope_parameters.") + key, &ModelConfig::rope_parameters, member, type, doc);
    };
    using R = RopeConfig;
    const Interval factor{1e-3, 1e6};
    add("rope_type", &R::type, choice<RopeType>({"default", "linear", "dynamic", "llama3", "yarn"}),
        "How frequencies change for contexts longer than the trained one.");
    add("rope_theta", &R::theta, number({1.0, 1e12}), "Base of the frequencies theta^(-2i/head_dim).");
    add("interleaved", &R::interleaved, flag(),
        "Rotates elements 2i and 2i+1 together; otherwise i and i + head_dim/2, as the families here do.");
    add("factor", &R::factor, number(factor), "How much longer the context is: linear, dynamic, llama3, yarn.");
    add("original_max_position_embeddings", &R::original_max_position_embeddings, integer(0, most_positions),
        "Context the model was trained with: dynamic, llama3, yarn; 0 means max_position_embeddings.");
    add("low_freq_factor", &R::low_freq_factor, number(factor),
        "llama3: wavelengths above original / this are scaled.");
    add("high_freq_factor", &R::high_freq_factor, number(factor), "llama3: those below original / this are kept.");
    add("beta_fast", &R::beta_fast, number(factor),
        "yarn: rotations within the original context from which a pair is kept.");
    add("beta_slow", &R::beta_slow, number(factor), "yarn: rotations below which a pair is scaled in full.");
    add("attention_factor", &R::attention_factor, number({0.0, 1e6}),
        "yarn: multiplies cosines and sines; 0 means 0.1 ln(factor) + 1.");
}

void add_experts(SectionBuilder<ModelConfig>& model) {
    using M = ModelConfig;
    model.add("num_experts", &M::num_experts, integer(0, 4096),
              "Experts of a block, between which a router chooses for each token; 0 means one MLP for all.",
              {"num_local_experts", "n_routed_experts"});
    model.add("num_experts_per_tok", &M::num_experts_per_tok, integer(1, 4096), "Experts that a token goes through.",
              {"top_k", "num_experts_per_token"});
    model.add("moe_intermediate_size", &M::moe_intermediate_size, integer(0, 1 << 20),
              "Inner width of an expert; 0 means intermediate_size. Must be 0 without experts.");
    model.add("norm_topk_prob", &M::norm_topk_prob, flag(),
              "Whether the chosen experts' probabilities are divided by their sum.");
    model.add("router_aux_loss_coef", &M::router_aux_loss_coef, number({0.0, 1e6}),
              "Weight of the loss that balances the experts' load; see Experts below.", {"aux_loss_coef"});
    model.add("router_aux_loss_scope", &M::router_aux_loss_scope, choice<AuxLossScope>({"layer", "model"}),
              "That loss a layer, summed (as in MiniMind), or of the mean load and scores of all layers (Qwen3-MoE).");
}

void add_sizes(SectionBuilder<ModelConfig>& model) {
    using M = ModelConfig;
    model.add("vocab_size", &M::vocab_size, integer(1, most_tokens), "Number of token ids.");
    model.add("hidden_size", &M::hidden_size, integer(1, 1 << 17), "Width of the residual stream.",
              {"n_embd", "d_model", "embed_dim", "dim"});
    model.add("num_hidden_layers", &M::num_hidden_layers, integer(1, 1024), "Number of blocks.",
              {"n_layer", "num_layers", "layers"});
    model.add("num_attention_heads", &M::num_attention_heads, integer(1, 4096),
              "Query heads; hidden_size must be a multiple of it unless head_dim is given.",
              {"n_head", "num_heads", "heads"});
    model.add("num_key_value_heads", &M::num_key_value_heads, integer(0, 4096),
              "Key and value heads, each shared by as many query heads; 0 means num_attention_heads.",
              {"n_kv_head", "num_kv_heads"});
    model.add("head_dim", &M::head_dim, integer(0, 1 << 17),
              "Width of a head; 0 means hidden_size / num_attention_heads. Even with rope.",
              {"d_head", "head_size", "d_k"});
    model.add("intermediate_size", &M::intermediate_size, integer(0, 1 << 20),
              "Inner width of the MLP; 0 means 4 x hidden_size. Must be 0 when mlp is none.", {"n_inner", "d_ff"});
    model.add("max_position_embeddings", &M::max_position_embeddings, integer(1, most_positions),
              "Longest context, in tokens.", {"n_positions", "n_ctx", "block_size", "max_seq_len", "context_length"});
}

void add_blocks(SectionBuilder<ModelConfig>& model) {
    using M = ModelConfig;
    model.add("norm", &M::norm, choice<NormKind>({"none", "layernorm", "rmsnorm"}),
              "Normalisation around each sub-block.", {"normalization"});
    model.add("norm_placement", &M::norm_placement, choice<NormPlacement>({"pre", "post"}),
              "pre: before each sub-block and once before the head; post: after each residual sum. Must be pre when "
              "norm is none.");
    model.add("layer_norm_epsilon", &M::layer_norm_epsilon, number({1e-12, 1.0}), "Added to the variance.",
              {"layer_norm_eps", "norm_eps"});
    model.add("rms_norm_eps", &M::rms_norm_eps, number({1e-12, 1.0}), "Added to the mean square: rmsnorm and qk_norm.",
              {"rms_eps"});
    model.add("qk_norm", &M::qk_norm, flag(), "RMSNorm of each head of Q and K, with trained gains, before positions.");
    model.add("residual", &M::residual, flag(), "Whether a sub-block's output is added to its input or replaces it.");
    model.add("mlp", &M::mlp, choice<MlpKind>({"none", "plain", "gated"}, {{"gelu", MlpKind::plain}}),
              "The second sub-block of each block: two linear layers around hidden_act (also written gelu), or gated "
              "by a third (SwiGLU with silu, GeGLU with gelu).");
    model.add("hidden_act", &M::hidden_act,
              choice<Activation>({"gelu", "gelu_new", "silu", "relu"},
                                 {{"gelu_pytorch_tanh", Activation::gelu_new}, {"swish", Activation::silu}}),
              "gelu is the exact one (erf), gelu_new the tanh approximation of GPT-2.",
              {"activation_function", "activation"});
}

void add_attention(SectionBuilder<ModelConfig>& model) {
    using M = ModelConfig;
    model.add("causal", &M::causal, flag(), "Whether a token sees only itself and those before it.", {"is_causal"});
    model.add("sliding_window", &M::sliding_window, integer(0, most_positions),
              "Newest keys that a query sees, its own among them; without causal, how far it sees on either side; 0 "
              "means all.");
    model.add("attention_scale", &M::attention_scale, number({0.0, 1e6}),
              "Multiplies the scores; 0 means 1 / sqrt(head_dim).", {"scaling", "softmax_scale"});
}

void add_dropout(SectionBuilder<ModelConfig>& model) {
    using M = ModelConfig;
    const Interval probability{0.0, 1.0};
    model.add("attention_dropout", &M::attention_dropout, number(probability),
              "Share of attention weights that training drops.", {"attn_pdrop"});
    model.add("embd_pdrop", &M::embd_pdrop, number(probability), "Share of the embedding that training drops.");
    model.add("resid_pdrop", &M::resid_pdrop, number(probability),
              "Share of each sub-block's output that training drops.", {"hidden_dropout", "dropout"});
}

}  // namespace

Section model_section() {
    SectionBuilder<ModelConfig> model("model", &Config::model, "The architecture, in HuggingFace's names.");
    using M = ModelConfig;
    model.add("model_type", &M::model_type, one_of(model_types()),
              "A family, which gives the fields below their defaults and fixes some of them, and whose own names they "
              "may have (docs/checkpoints.md); causeway composes them freely.");
    add_sizes(model);
    model.add("position_embedding", &M::position_embedding,
              choice<PositionKind>({"none", "sinusoidal", "learned", "rope", "alibi"}),
              "What is added to the token embedding: nothing, sines and cosines of base 10000, or a trained table; or "
              "what tells attention of distances: rotation of Q and K, or a bias of the scores.",
              {"position_embedding_type"});
    add_rope(model);
    add_blocks(model);
    model.add("attention_bias", &M::attention_bias, flag(), "Biases of the QKV and output projections.",
              {"bias", "qkv_bias"});
    model.add("mlp_bias", &M::mlp_bias, flag(), "Biases of the linear layers of the MLP.");
    add_attention(model);
    add_dropout(model);
    add_experts(model);
    model.add("tie_word_embeddings", &M::tie_word_embeddings, flag(),
              "Whether the head's weight is the token embedding itself.", {"tie_weights", "tied"});
    model.add("lm_head_bias", &M::lm_head_bias, flag(), "Bias of the head.");
    model.add("init", &M::init, choice<InitKind>({"gpt2", "pytorch", "normal"}),
              "Initial values; see Initial values below.");
    model.add("initializer_range", &M::initializer_range, number({0.0, 10.0}),
              "Standard deviation of the initial embeddings, and but for init pytorch of the matrices.", {"init_std"});
    return model.take();
}

}  // namespace causeway::config
