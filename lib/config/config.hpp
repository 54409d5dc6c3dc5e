#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace causeway {

enum class NormKind { none, layernorm, rmsnorm };
enum class NormPlacement { pre, post };
enum class MlpKind { none, plain, gated };  ///< plain: act(x W1) W2; gated: (act(x Wg) * (x Wu)) Wd (SwiGLU, GeGLU)
enum class Activation { gelu, gelu_new, silu, relu };  ///< HuggingFace's names: gelu by erf, gelu_new by tanh
enum class PositionKind { none, sinusoidal, learned, rope, alibi };
enum class RopeType { unscaled, linear, dynamic, llama3, yarn };
enum class InitKind { gpt2, pytorch, normal };  ///< see docs/config.md
enum class AuxLossScope { layer, model };       ///< over which load and scores are averaged; see docs/config.md

/// Rotary position embedding: object "rope_parameters" of section "model" (transformers 5). 0: derived or unused.
struct RopeConfig {
    RopeType type = RopeType::unscaled;
    double theta = 10000.0;
    bool interleaved = false;  ///< pairs (2i, 2i+1); otherwise half-split pairs (i, i + head_dim/2)
    double factor = 1.0;
    std::int64_t original_max_position_embeddings = 0;  ///< 0: max_position_embeddings
    double low_freq_factor = 1.0;                       ///< llama3
    double high_freq_factor = 4.0;                      ///< llama3
    double beta_fast = 32.0;                            ///< yarn
    double beta_slow = 1.0;                             ///< yarn
    double attention_factor = 0.0;                      ///< yarn; 0: 0.1 ln(factor) + 1

    bool operator==(const RopeConfig&) const = default;
};

/// The architecture: section "model". Names are HuggingFace's where they exist.
struct ModelConfig {
    std::string model_type = "causeway";  ///< free composition of the fields below, or a family: see config/families
    std::int64_t vocab_size = 256;
    std::int64_t hidden_size = 128;
    std::int64_t num_hidden_layers = 4;
    std::int64_t num_attention_heads = 4;
    std::int64_t num_key_value_heads = 0;  ///< 0: as many as attention heads; resolved by the parser
    std::int64_t head_dim = 0;             ///< 0: hidden_size / num_attention_heads; resolved by the parser
    std::int64_t intermediate_size = 0;    ///< 0: 4 * hidden_size; resolved by the parser (stays 0 when mlp is none)
    std::int64_t max_position_embeddings = 64;
    PositionKind position_embedding = PositionKind::learned;
    RopeConfig rope_parameters;
    NormKind norm = NormKind::layernorm;
    NormPlacement norm_placement = NormPlacement::pre;
    double layer_norm_epsilon = 1e-5;
    double rms_norm_eps = 1e-6;
    bool qk_norm = false;  ///< RMSNorm of each head of Q and K, before positions
    bool residual = true;
    MlpKind mlp = MlpKind::plain;
    Activation hidden_act = Activation::gelu_new;
    bool attention_bias = true;
    bool mlp_bias = true;
    bool causal = true;
    std::int64_t sliding_window = 0;  ///< keys a query sees, itself among them; 0: all
    double attention_scale = 0.0;     ///< 0: 1 / sqrt(head_dim)
    double attention_dropout = 0.0;
    double embd_pdrop = 0.0;
    double resid_pdrop = 0.0;
    std::int64_t num_experts = 0;  ///< 0: one MLP a block
    std::int64_t num_experts_per_tok = 1;
    std::int64_t moe_intermediate_size = 0;  ///< 0: intermediate_size
    bool norm_topk_prob = true;
    double router_aux_loss_coef = 0.0;
    AuxLossScope router_aux_loss_scope = AuxLossScope::layer;
    bool tie_word_embeddings = true;
    bool lm_head_bias = false;
    InitKind init = InitKind::gpt2;
    double initializer_range = 0.02;

    bool operator==(const ModelConfig&) const = default;
};

enum class DataSource { text, jsonl, chat, tokens, repeat, lookback_copy, induction };
enum class Sampling { random, epoch };
enum class TokenType { automatic, uint8, uint16, uint32, int32, int64 };  ///< see docs/data.md
enum class ChatFormat { minimind, qwen, llama3 };                         ///< see docs/data.md

/// One of several sources that a run draws from.
struct DataPart {
    std::string path;
    double weight = 1.0;  ///< relative to the others

    bool operator==(const DataPart&) const = default;
};

/// Where the tokens come from: section "data". A path is a file, a pattern (*, ?) or a folder.
struct DataConfig {
    DataSource source = DataSource::text;
    std::string path;
    std::vector<DataPart> mixture;  ///< instead of path: several, with weights
    std::string tokenizer;          ///< tokenizer.json, or the folder it is in; empty: bytes
    TokenType token_type = TokenType::automatic;
    ChatFormat chat_format = ChatFormat::qwen;
    bool packing = true;             ///< jsonl, chat: documents follow each other; false: one document a row, padded
    std::string document_start;      ///< token put before each document; empty: none
    std::string document_separator;  ///< token put after each document; empty: none
    std::string validation_path;     ///< instead of validation_fraction
    double validation_fraction = 0.1;
    Sampling sampling = Sampling::random;
    std::int64_t validation_stride = 0;  ///< a validation window starts at every so many tokens; 0: sequence_length
    std::int64_t lookback = 3;           ///< lookback_copy: target is the token this many positions back

    /// A built-in task, which makes its rows itself.
    bool is_task() const { return source >= DataSource::repeat; }

    bool operator==(const DataConfig&) const = default;
};

enum class OptimizerKind { adamw, adam, sgd };
enum class DecayScope { matrices, linear, all };
enum class LrSchedule { constant, linear, cosine, minimind, wsd, inverse_sqrt };
enum class Recompute { none, attention_free, block };  ///< see docs/config.md
enum class FaultPolicy { stop, skip, rollback };       ///< see docs/training.md

/// How the parameters are learned: section "train".
struct TrainConfig {
    std::uint64_t seed = 42;
    std::int64_t batch_size = 12;
    std::int64_t sequence_length = 0;  ///< 0: model.max_position_embeddings; resolved by the parser
    std::int64_t gradient_accumulation_steps = 1;
    std::int64_t max_steps = 2000;
    double max_epochs = 0.0;           ///< 0: no such limit
    std::int64_t max_tokens = 0;       ///< 0: no such limit
    double max_time_s = 0.0;           ///< 0: no such limit
    std::int64_t steps_per_epoch = 0;  ///< 0: one pass over the data (epoch sampling), otherwise no epochs
    OptimizerKind optimizer = OptimizerKind::adamw;
    double learning_rate = 1e-3;
    double min_learning_rate = 0.0;
    LrSchedule lr_schedule = LrSchedule::cosine;
    std::int64_t warmup_steps = 0;
    std::int64_t decay_steps = 0;  ///< wsd: the last steps, over which the rate falls
    double momentum = 0.0;         ///< sgd
    double adam_beta1 = 0.9;
    double adam_beta2 = 0.999;
    double adam_epsilon = 1e-8;
    double weight_decay = 0.0;
    DecayScope weight_decay_scope = DecayScope::matrices;
    double max_grad_norm = 0.0;                     ///< 0: no clipping
    FaultPolicy on_non_finite = FaultPolicy::stop;  ///< a loss or gradient that is NaN or infinite
    FaultPolicy on_spike = FaultPolicy::skip;       ///< a gradient norm above spike_factor times the usual
    double spike_factor = 0.0;                      ///< 0: spikes are not looked for
    Recompute recompute = Recompute::none;
    std::int64_t log_every = 10;
    std::int64_t eval_every = 0;        ///< 0: only at the end
    std::int64_t checkpoint_every = 0;  ///< 0: only at the end
    std::int64_t keep_checkpoints = 2;  ///< newest ones that stay; the best stays too
    std::int64_t sample_every = 0;      ///< 0: no samples while training
    std::string sample_prompt = "\n";
    std::int64_t sample_tokens = 100;
    bool report = true;        ///< report.html in the run's folder
    bool tensorboard = false;  ///< event files in the run's folder

    bool operator==(const TrainConfig&) const = default;
};

enum class AttentionPath { tiled, explicit_weights };

/// How it is executed: section "runtime".
struct RuntimeConfig {
    std::int64_t threads = 0;  ///< 0: as many as this process may use
    std::string isa = "auto";
    AttentionPath attention = AttentionPath::tiled;
    bool memory_reuse = true;          ///< false: each value has its own buffer, poisoned after its last use
    std::int64_t memory_limit_mb = 0;  ///< 0: what the machine and the cgroup leave
    bool fuse_loss = true;             ///< each fusion pass of the compiler, see docs/config.md
    bool fuse_epilogue = true;
    bool fuse_norm_residual = true;
    bool fuse_gradient_norm = true;

    std::size_t memory_limit_bytes() const { return static_cast<std::size_t>(memory_limit_mb) << 20; }

    bool operator==(const RuntimeConfig&) const = default;
};

struct Config {
    ModelConfig model;
    DataConfig data;
    TrainConfig train;
    RuntimeConfig runtime;

    bool operator==(const Config&) const = default;
};

/// Reads and checks a config file, applies `section.field=value` overrides (value as JSON, or a bare string), resolves
/// the fields that derive from others. Section "model" may be written with the keys of the family that its model_type
/// names (docs/checkpoints.md), and a config.json of HuggingFace's, which is such a section alone, is read too. `start`
/// is what fields of the model that are not given keep, instead of their defaults. Throws IoError for the file,
/// ConfigError for its content (the message has the full key path, what was found and what is allowed).
Config load_config(const std::string& path, const std::vector<std::string>& overrides = {},
                   const ModelConfig* start = nullptr);

/// The same from JSON text; `origin` names it in messages.
Config parse_config(const std::string& json, const std::string& origin, const std::vector<std::string>& overrides = {},
                    const ModelConfig* start = nullptr);

/// Checks a config made in C++ against the same ranges and rules as a file, and resolves the fields that derive from
/// others. Throws ConfigError.
Config resolve_config(const Config& config);

/// Every field, resolved, as JSON text that parse_config reads back to the same Config.
std::string to_json(const Config& config);

/// The JSON Schema of a config, generated from the field table that the parser uses.
std::string config_schema();

/// Tables of every field in Markdown (name, allowed values, default, meaning), from the same field table;
/// docs/config.md contains them.
std::string config_reference();

}  // namespace causeway
