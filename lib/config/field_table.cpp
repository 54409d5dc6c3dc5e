#include "config/field_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/isa.hpp"
#include "config/nearest_name.hpp"

namespace causeway::config {
namespace {

// Upper limits are far above any use; they keep products of sizes inside 64 bits (check.cpp does the rest).
constexpr std::int64_t most_tokens = std::int64_t{1} << 31;  // ids are int32
constexpr std::int64_t most_steps = std::int64_t{1} << 40;
constexpr std::int64_t most_positions = std::int64_t{1} << 20;

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

Section model_section() {
    SectionBuilder<ModelConfig> model("model", &Config::model, "The architecture, in HuggingFace's names.");
    using M = ModelConfig;
    model.add("model_type", &M::model_type, one_of({"causeway"}),
              "The family that gives fields their meaning; causeway is the free composition of the fields below.");
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
    model.add("position_embedding", &M::position_embedding,
              choice<PositionKind>({"none", "sinusoidal", "learned", "rope", "alibi"}),
              "What is added to the token embedding: nothing, sines and cosines of base 10000, or a trained table; or "
              "what tells attention of distances: rotation of Q and K, or a bias of the scores.",
              {"position_embedding_type"});
    add_rope(model);
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
    model.add("attention_bias", &M::attention_bias, flag(), "Biases of the QKV and output projections.",
              {"bias", "qkv_bias"});
    model.add("mlp_bias", &M::mlp_bias, flag(), "Biases of the linear layers of the MLP.");
    model.add("causal", &M::causal, flag(), "Whether a token sees only itself and those before it.", {"is_causal"});
    model.add("sliding_window", &M::sliding_window, integer(0, most_positions),
              "Newest keys that a query sees, its own among them; without causal, how far it sees on either side; 0 "
              "means all.");
    model.add("attention_scale", &M::attention_scale, number({0.0, 1e6}),
              "Multiplies the scores; 0 means 1 / sqrt(head_dim).", {"scaling", "softmax_scale"});
    const Interval probability{0.0, 1.0};
    model.add("attention_dropout", &M::attention_dropout, number(probability),
              "Share of attention weights that training drops.", {"attn_pdrop"});
    model.add("embd_pdrop", &M::embd_pdrop, number(probability), "Share of the embedding that training drops.");
    model.add("resid_pdrop", &M::resid_pdrop, number(probability),
              "Share of each sub-block's output that training drops.", {"hidden_dropout", "dropout"});
    add_experts(model);
    model.add("tie_word_embeddings", &M::tie_word_embeddings, flag(),
              "Whether the head's weight is the token embedding itself.", {"tie_weights", "tied"});
    model.add("lm_head_bias", &M::lm_head_bias, flag(), "Bias of the head.");
    model.add("init", &M::init, choice<InitKind>({"gpt2", "pytorch"}), "Initial values; see Initial values below.");
    model.add("initializer_range", &M::initializer_range, number({0.0, 10.0}),
              "Standard deviation of the initial embeddings, and with init gpt2 of the matrices.", {"init_std"});
    return model.take();
}

Section data_section() {
    SectionBuilder<DataConfig> data("data", &Config::data, "Where the tokens come from.");
    using D = DataConfig;
    data.add("source", &D::source, choice<DataSource>({"text", "repeat", "lookback_copy", "induction"}),
             "text: the bytes of a file, one token each; the others are built-in tasks made from the seed.",
             {"dataset", "task"});
    data.add("path", &D::path, text(), "text: the file, relative to the working directory. Empty for the tasks.",
             {"file", "filename", "data_path"});
    data.add("validation_fraction", &D::validation_fraction, number({0.0, 1.0, true, true}),
             "text: this last part of the file is kept for validation.", {"val_fraction", "val_split"});
    data.add("sampling", &D::sampling, choice<Sampling>({"random", "epoch"}),
             "text: windows drawn with replacement, or each window once an epoch in shuffled order.");
    data.add("validation_stride", &D::validation_stride, integer(0, most_steps),
             "text: a validation window starts at every so many tokens; 0 means train.sequence_length.");
    data.add("lookback", &D::lookback, integer(1, most_positions),
             "lookback_copy: the target is the token this many positions back.");
    return data.take();
}

Section train_section() {
    SectionBuilder<TrainConfig> train("train", &Config::train, "How the parameters are learned.");
    using T = TrainConfig;
    const ValueType<double> rate = number({0.0, 1000.0});
    train.add("seed", &T::seed, any_unsigned(), "Decides initial values and data; same seed, same run.",
              {"random_seed"});
    train.add("batch_size", &T::batch_size, integer(1, 1 << 16), "Sequences in a micro-batch.",
              {"micro_batch_size", "per_device_train_batch_size"});
    train.add("sequence_length", &T::sequence_length, integer(0, most_positions),
              "Tokens in a sequence; 0 means model.max_position_embeddings.",
              {"seq_len", "block_size", "context_length", "max_length"});
    train.add("gradient_accumulation_steps", &T::gradient_accumulation_steps, integer(1, 1 << 16),
              "Micro-batches whose gradients make one optimizer step.", {"accumulation_steps", "grad_accum"});
    train.add("max_steps", &T::max_steps, integer(1, most_steps), "Optimizer steps.",
              {"steps", "max_iters", "num_iterations", "total_steps"});
    train.add("steps_per_epoch", &T::steps_per_epoch, integer(0, most_steps),
              "Steps that are reported as an epoch; 0 means one pass over the data with sampling epoch, otherwise no "
              "epochs.");
    train.add("optimizer", &T::optimizer, choice<OptimizerKind>({"adamw", "adam"}),
              "adam is adamw without weight decay.");
    train.add("learning_rate", &T::learning_rate, number({0.0, 1000.0, true, false}), "The highest rate.",
              {"lr", "max_lr"});
    train.add("min_learning_rate", &T::min_learning_rate, rate,
              "The rate that linear and cosine schedules end at; at most learning_rate.", {"min_lr", "final_lr"});
    train.add("lr_schedule", &T::lr_schedule, choice<LrSchedule>({"constant", "linear", "cosine"}),
              "The rate after warm-up; see Learning rate below.", {"lr_scheduler_type", "schedule"});
    train.add("warmup_steps", &T::warmup_steps, integer(0, most_steps),
              "Steps over which the rate rises linearly to learning_rate.", {"warmup_iters", "warmup"});
    train.add("adam_beta1", &T::adam_beta1, number({0.0, 1.0, false, true}), "Decay of the mean of gradients.",
              {"beta1", "betas"});
    train.add("adam_beta2", &T::adam_beta2, number({0.0, 1.0, false, true}), "Decay of the mean of their squares.",
              {"beta2"});
    train.add("adam_epsilon", &T::adam_epsilon, number({1e-30, 1.0}), "Added to the root in the denominator.",
              {"eps", "adam_eps"});
    train.add("weight_decay", &T::weight_decay, number({0.0, 100.0}),
              "Decoupled decay of matrices and embeddings, never of biases and norm gains. Must be 0 with adam.");
    train.add("max_grad_norm", &T::max_grad_norm, number({0.0, 1e30}),
              "The global gradient norm is clipped to it; 0 means no clipping.", {"grad_clip", "clip", "clip_grad"});
    train.add(
        "recompute", &T::recompute, choice<Recompute>({"none", "attention_free", "block"}),
        "What backward computes a second time instead of keeping it: nothing, all of a block but attention with its "
        "qkv, or all of a block. Same results; see Recomputation below.",
        {"gradient_checkpointing", "activation_checkpointing", "checkpointing", "recompute_granularity"});
    train.add("log_every", &T::log_every, integer(1, most_steps), "Steps between two printed lines.",
              {"logging_steps", "log_interval"});
    train.add("eval_every", &T::eval_every, integer(0, most_steps),
              "Steps between two validations; 0 means only at the end.", {"eval_steps", "eval_interval"});
    return train.take();
}

std::vector<std::string> isa_names() {
    std::vector<std::string> names{"auto"};
    for (Isa isa : all_isas) names.emplace_back(to_string(isa));
    return names;
}

Section runtime_section() {
    SectionBuilder<RuntimeConfig> runtime("runtime", &Config::runtime, "How it is executed.");
    using R = RuntimeConfig;
    runtime.add("threads", &R::threads, integer(0, 1024),
                "Threads; 0 means as many as the process may use. Results do not depend on it.",
                {"num_threads", "n_threads", "nthreads"});
    runtime.add("isa", &R::isa, one_of(isa_names()),
                "Instruction set of the kernels; auto is the best one the CPU has, reference the plain loops. The "
                "environment variable CAUSEWAY_ISA wins over it.");
    runtime.add("attention", &R::attention, choice<AttentionPath>({"tiled", "explicit"}),
                "tiled never stores the attention weights, explicit materialises them.", {"attn_implementation"});
    runtime.add("memory_reuse", &R::memory_reuse, flag(),
                "false gives each value a buffer of its own, poisoned after its last use: for debugging.");
    runtime.add("memory_limit_mb", &R::memory_limit_mb, integer(0, std::int64_t{1} << 40),
                "A plan that needs more MiB is refused; 0 means what the machine and the cgroup leave.");
    runtime.add("fuse_loss", &R::fuse_loss, flag(),
                "Take the loss from the step that computes its gradients. Fusions: see below.");
    runtime.add("fuse_epilogue", &R::fuse_epilogue, flag(),
                "Activations and residual sums in the matrix product before them.");
    runtime.add("fuse_norm_residual", &R::fuse_norm_residual, flag(),
                "The sum of a residual stream's gradients in the norm's backward.");
    runtime.add("fuse_gradient_norm", &R::fuse_gradient_norm, flag(),
                "Squares of the gradients, for their norm, in the matrix products that make them.");
    return runtime.take();
}

std::vector<std::string> keys_of(const Section& section) {
    std::vector<std::string> keys;
    for (const Field& field : section.fields) keys.push_back(field.key);
    return keys;
}

/// The field that other projects call `key`, in `preferred` or else anywhere: "section.field", or empty.
std::string path_by_other_name(const Section& preferred, const std::string& key) {
    std::string elsewhere;
    for (const Section& section : field_table()) {
        for (const Field& field : section.fields) {
            const auto& names = field.other_names;
            if (std::find(names.begin(), names.end(), key) == names.end()) continue;
            if (section.name == preferred.name) return section.name + "." + field.key;
            if (elsewhere.empty()) elsewhere = section.name + "." + field.key;
        }
    }
    return elsewhere;
}

/// The path most likely meant by an unknown key: its own section first, then the others.
std::string nearest_path(const Section& preferred, const std::string& key) {
    const std::string other = path_by_other_name(preferred, key);
    if (!other.empty()) return other;
    const std::string here = nearest_name(key, keys_of(preferred));
    if (!here.empty()) return preferred.name + "." + here;
    for (const Section& section : field_table()) {
        const std::string there = nearest_name(key, keys_of(section));
        if (!there.empty()) return section.name + "." + there;
    }
    return "";
}

}  // namespace

const std::vector<Section>& field_table() {
    static const std::vector<Section> table{model_section(), data_section(), train_section(), runtime_section()};
    return table;
}

const Section* find_section(const std::string& name) {
    const auto& table = field_table();
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const Section& section) { return section.name == name; });
    return found == table.end() ? nullptr : &*found;
}

const Field* find_field(const Section& section, const std::string& key) {
    const auto& fields = section.fields;
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.key == key; });
    return found == fields.end() ? nullptr : &*found;
}

bool is_object_of(const Section& section, const std::string& name) {
    return std::any_of(section.fields.begin(), section.fields.end(),
                       [&](const Field& field) { return field.key.rfind(name + ".", 0) == 0; });
}

Json::json_pointer pointer_to(const Field& field) {
    std::string path = "/" + field.key;
    std::replace(path.begin(), path.end(), '.', '/');
    return Json::json_pointer(path);
}

const Section* section_with_field(const std::string& key) {
    for (const Section& section : field_table()) {
        if (find_field(section, key) != nullptr) return &section;
    }
    return nullptr;
}

void fail_unknown_field(const Section& section, const std::string& key, const std::string& origin) {
    const Where where{section.name + "." + key, origin};
    const std::string fields = fmt::format("fields of \"{}\": {}", section.name, fmt::join(keys_of(section), ", "));
    if (const Section* owner = section_with_field(key)) {
        fail(where, fmt::format("\"{}\" found in section \"{}\", but it belongs to \"{}\"; {}", key, section.name,
                                owner->name, fields));
    }
    const std::string nearest = nearest_path(section, key);
    fail(where,
         fmt::format("unknown field{}; {}", nearest.empty() ? "" : ", did you mean \"" + nearest + "\"?", fields));
}

void fail_unknown_section(const std::string& key, const std::string& origin) {
    std::vector<std::string> names;
    for (const Section& section : field_table()) names.push_back(section.name);
    const std::string sections = fmt::format("sections: {}", fmt::join(names, ", "));
    if (const Section* owner = section_with_field(key)) {
        fail({key, origin}, fmt::format("found at the top level, but it belongs to section \"{}\" as \"{}.{}\"; {}",
                                        owner->name, owner->name, key, sections));
    }
    const std::string nearest = nearest_name(key, names);
    const std::string path = nearest.empty() ? nearest_path(field_table().front(), key) : nearest;
    fail({key, origin},
         fmt::format("unknown section{}; {}", path.empty() ? "" : ", did you mean \"" + path + "\"?", sections));
}

}  // namespace causeway::config
