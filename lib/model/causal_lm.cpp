#include "model/causal_lm.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "model/rope_frequencies.hpp"
#include "ops/ops.hpp"

namespace causeway {
namespace {

/// Builds the graph top to bottom, as the papers read (Radford et al. 2019; Vaswani et al. 2017 for post-norm; Touvron
/// et al. 2023 for RMSNorm, RoPE and SwiGLU; Qwen team 2025 for experts).
class CausalLm {
  public:
    CausalLm(const ModelConfig& config, const CausalLmOptions& options) : config_(config), options_(options) {}

    Graph build() && {
        const std::int64_t d = config_.hidden_size;
        const ValueId tokens = input("tokens");
        if (options_.attention_mask) attention_mask_ = input("attention_mask");
        if (options_.mask.rank() > 0) mask_ = input("mask", {DType::u8, options_.mask});
        if (cached()) {
            past_ = row_input("past");
            count_ = row_input("count");
        }
        const ValueId wte = parameter("wte.weight", {config_.vocab_size, d}, normal(config_.initializer_range));
        ValueId x = graph_.emit(ops::embedding(), "embedding", {tokens, wte});
        x = dropout("embedding.dropout", positions(x), config_.embd_pdrop, 0);
        for (std::int64_t layer = 0; layer < config_.num_hidden_layers; ++layer) {
            graph_.value(x).block_boundary = true;
            x = block(layer, x);
        }
        graph_.value(x).block_boundary = true;
        if (pre_norm()) x = norm("ln_f", x);
        head(x, wte);
        return std::move(graph_);
    }

  private:
    /// Dropout's sites are numbered: the embedding 0, then three a layer.
    ValueId block(std::int64_t layer, ValueId x) {
        const std::string name = fmt::format("h.{}", layer);
        const std::int64_t site = 3 * layer + 1;
        x = sublayer(name + ".ln_1", x, site + 1, [&](ValueId h) { return attention(name + ".attn", h, site); });
        if (config_.mlp == MlpKind::none) return x;
        return sublayer(name + ".ln_2", x, site + 2, [&](ValueId h) {
            return config_.num_experts > 0 ? experts(name + ".mlp", h) : mlp(name + ".mlp", h);
        });
    }

    /// pre: x + f(norm(x)); post: norm(x + f(x)); without residual or norm the same without that part.
    template <class F>
    ValueId sublayer(const std::string& norm_name, ValueId x, std::int64_t dropout_site, F&& f) {
        ValueId y = f(pre_norm() ? norm(norm_name, x) : x);
        const std::string sum_name = graph_.value(y).name + ".residual";
        y = dropout(graph_.value(y).name + ".dropout", y, config_.resid_pdrop, dropout_site);
        if (config_.residual) y = graph_.emit(ops::add(), sum_name, {x, y});
        return post_norm() ? norm(norm_name, y) : y;
    }

    ValueId dropout(const std::string& name, ValueId x, double rate, std::int64_t site) {
        if (!options_.dropout || rate == 0) return x;
        return graph_.emit(ops::dropout(), name, {x}, {{"rate", rate}, {"site", site}});
    }

    ValueId attention(const std::string& name, ValueId x, std::int64_t dropout_site) {
        const std::int64_t heads = config_.num_attention_heads, kv_heads = config_.num_key_value_heads,
                           head_dim = config_.head_dim;
        const bool bias = config_.attention_bias;
        ValueId qkv = linear(name + ".qkv", x, (heads + 2 * kv_heads) * head_dim, bias, false);
        if (config_.qk_norm) qkv = qk_norm(name, qkv);
        if (config_.position_embedding == PositionKind::rope) qkv = rotate(name, qkv);
        const ValueId out = attend(name, qkv, attention_attributes(dropout_site));
        return linear(name + ".proj", out, config_.hidden_size, bias, true);
    }

    /// Attention of the tokens at hand over themselves, or over all that the cache holds with them.
    ValueId attend(const std::string& name, ValueId qkv, Attributes attributes) {
        const bool tiled = options_.attention == AttentionPath::tiled;
        if (!cached()) {
            std::vector<ValueId> inputs{qkv};
            if (mask_ || attention_mask_) inputs = {qkv, mask_, attention_mask_};
            return graph_.emit(tiled ? ops::attention() : ops::attention_explicit(), name + ".heads", std::move(inputs),
                               std::move(attributes));
        }
        const ValueId k = cache(name + ".cache_k"), v = cache(name + ".cache_v");
        const NodeId append =
            graph_.add_node(ops::append_kv(), name + ".append", {qkv, k, v, past_, count_}, attributes);
        const std::vector<ValueId> grown = graph_.node(append).outputs;
        attributes.set("tiled", tiled);
        attributes.set("context", options_.context);
        return graph_.emit(ops::attention_cached(), name + ".heads", {qkv, grown[0], grown[1], past_, count_},
                           std::move(attributes));
    }

    /// RMSNorm of each head of Q and K.
    ValueId qk_norm(const std::string& name, ValueId qkv) {
        const ValueId q = gain(name + ".q_norm", config_.head_dim), k = gain(name + ".k_norm", config_.head_dim);
        return graph_.emit(ops::qk_norm(), name + ".qk_norm", {qkv, q, k},
                           {{"heads", config_.num_attention_heads},
                            {"kv_heads", config_.num_key_value_heads},
                            {"head_dim", config_.head_dim},
                            {"eps", config_.rms_norm_eps}});
    }

    /// Turns Q and K by their positions.
    ValueId rotate(const std::string& name, ValueId qkv) {
        return graph_.emit(ops::rope(), name + ".rope", {qkv, rope_table_, past_},
                           {{"heads", config_.num_attention_heads},
                            {"kv_heads", config_.num_key_value_heads},
                            {"head_dim", config_.head_dim},
                            {"interleaved", config_.rope_parameters.interleaved}});
    }

    Attributes attention_attributes(std::int64_t dropout_site) const {
        const double scale = 1.0 / std::sqrt(static_cast<double>(config_.head_dim));
        Attributes attributes{{"heads", config_.num_attention_heads},
                              {"kv_heads", config_.num_key_value_heads},
                              {"head_dim", config_.head_dim},
                              {"scale", config_.attention_scale > 0 ? config_.attention_scale : scale},
                              {"causal", config_.causal}};
        if (config_.sliding_window > 0) attributes.set("window", config_.sliding_window);
        if (config_.position_embedding == PositionKind::alibi) attributes.set("alibi", true);
        if (options_.dropout && config_.attention_dropout > 0) {
            attributes.set("dropout", config_.attention_dropout);
            attributes.set("site", dropout_site);
        }
        return attributes;
    }

    ValueId mlp(const std::string& name, ValueId x) {
        const Attributes activation{{"activation", activation_name()}};
        ValueId h;
        if (config_.mlp == MlpKind::gated) {
            h = linear(name + ".gate_up", x, 2 * config_.intermediate_size, config_.mlp_bias, false);
            h = graph_.emit(ops::gated(), name + ".gated", {h}, activation);
        } else {
            h = linear(name + ".fc", x, config_.intermediate_size, config_.mlp_bias, false);
            h = graph_.emit(ops::activation(), name + ".act", {h}, activation);
        }
        return linear(name + ".proj", h, config_.hidden_size, config_.mlp_bias, true);
    }

    /// Each token through the gated MLPs of its experts: its rows sorted by expert, multiplied, and brought back.
    ValueId experts(const std::string& name, ValueId x) {
        const std::int64_t count = config_.num_experts, d = config_.hidden_size, inner = config_.moe_intermediate_size;
        const ValueId logits = linear(name + ".router", x, count, false, false);
        const std::vector<ValueId> route = routing(name + ".router.choice", logits);
        const ValueId weights = route[0], offsets = route[2], order = route[3], slots = route[4];

        const std::string stem = name + ".experts";
        const ValueId gate_up =
            parameter(stem + ".gate_up.weight", {count, 2 * inner, d}, weight_initializer(d, false));
        const ValueId down = parameter(stem + ".down.weight", {count, d, inner}, weight_initializer(inner, true));
        ValueId h = graph_.emit(ops::moe_gather(), stem + ".rows", {x, order, slots});
        h = graph_.emit(ops::moe_linear(), stem + ".gate_up", {h, gate_up, offsets});
        h = graph_.emit(ops::gated(), stem + ".gated", {h}, {{"activation", activation_name()}});
        h = graph_.emit(ops::moe_linear(), stem + ".down", {h, down, offsets});
        return graph_.emit(ops::moe_combine(), stem, {h, weights, order, slots});
    }

    /// The outputs of a moe_route node. All of them stay when a block is recomputed: they are few, and the auxiliary
    /// loss reads those of all layers.
    std::vector<ValueId> routing(const std::string& name, ValueId logits) {
        const NodeId id = graph_.add_node(ops::moe_route(), name, {logits},
                                          {{"choices", config_.num_experts_per_tok},
                                           {"normalize", config_.norm_topk_prob},
                                           {"score_sums", options_.balance_experts}});
        std::vector<ValueId> outputs = graph_.node(id).outputs;
        graph_.value(outputs[0]).block_boundary = true;
        if (options_.balance_experts) {
            balance_inputs_.push_back(outputs[2]);
            balance_inputs_.push_back(outputs[6]);
        }
        return outputs;
    }

    /// What training adds to the loss so that experts share the load.
    void balance(ValueId targets) {
        if (balance_inputs_.empty()) return;
        std::vector<ValueId> inputs{targets};
        inputs.insert(inputs.end(), balance_inputs_.begin(), balance_inputs_.end());
        const bool whole_model = config_.router_aux_loss_scope == AuxLossScope::model;
        graph_.emit(ops::moe_balance(), "aux_loss", inputs,
                    {{"choices", config_.num_experts_per_tok},
                     {"scope", std::string(whole_model ? "model" : "layer")},
                     {"coefficient", config_.router_aux_loss_coef}});
    }

    std::string activation_name() const {
        switch (config_.hidden_act) {
            case Activation::gelu:
                return "gelu";
            case Activation::gelu_new:
                return "gelu_new";
            case Activation::silu:
                return "silu";
            case Activation::relu:
                return "relu";
        }
        return "";
    }

    ValueId positions(ValueId x) {
        const Shape shape{config_.max_position_embeddings, config_.hidden_size};
        switch (config_.position_embedding) {
            case PositionKind::learned:
                return graph_.emit(ops::positions(), "positions",
                                   {x, parameter("wpe.weight", shape, normal(config_.initializer_range)), past_});
            case PositionKind::sinusoidal:
                return graph_.emit(ops::positions(), "positions",
                                   {x, constant("sinusoidal", shape, {Initializer::Kind::sinusoidal, 0}), past_});
            case PositionKind::rope:
                rope_table_ = rope_table();
                return x;
            case PositionKind::none:
            case PositionKind::alibi:
                return x;
        }
        return x;
    }

    /// Cosines and sines of every position, shared by all layers. Those of dynamic scaling differ with the length of
    /// the sequence once it exceeds the original context.
    ValueId rope_table() {
        const RopeConfig& rope = config_.rope_parameters;
        const std::int64_t positions = config_.max_position_embeddings;
        const std::int64_t length = cached() ? options_.cache_length : options_.sequence_length;
        const RopeFrequencies angles = rope_frequencies(rope, config_.head_dim, positions, length);
        const bool stretched = rope.type == RopeType::dynamic && rope.original_max_position_embeddings != 0 &&
                               length > rope.original_max_position_embeddings;
        // With a cache, what fills a row up behind its last token may lie beyond the context.
        const std::int64_t rows = positions + options_.cache_length;
        // Plans that share memory share values of one name, which are therefore of one size.
        std::string name = cached() ? "rope.cached" : "rope";
        if (stretched) name += fmt::format(".{}", length);
        return constant(name, {rows, config_.head_dim}, {Initializer::Kind::rope, angles.scale, angles.frequencies});
    }

    ValueId norm(const std::string& name, ValueId x) {
        const ValueId weight = gain(name, config_.hidden_size);
        if (config_.norm == NormKind::rmsnorm) {
            return graph_.emit(ops::rmsnorm(), name, {x, weight}, {{"eps", config_.rms_norm_eps}});
        }
        const ValueId bias = parameter(name + ".bias", {config_.hidden_size}, {Initializer::Kind::zeros, 0});
        return graph_.emit(ops::layernorm(), name, {x, weight, bias}, {{"eps", config_.layer_norm_epsilon}});
    }

    ValueId gain(const std::string& name, std::int64_t width) {
        return parameter(name + ".weight", {width}, {Initializer::Kind::ones, 0});
    }

    /// A linear layer to `out` features; `residual` ones are those whose output joins the residual stream.
    ValueId linear(const std::string& name, ValueId x, std::int64_t out, bool bias, bool residual) {
        const std::int64_t in = graph_.shape(x).back();
        const ValueId weight = parameter(name + ".weight", {out, in}, weight_initializer(in, residual));
        const ValueId b = bias ? parameter(name + ".bias", {out}, bias_initializer(in)) : ValueId{};
        return graph_.emit(ops::linear(), name, {x, weight, b}, {{"activation", std::string("none")}});
    }

    void head(ValueId x, ValueId wte) {
        const std::int64_t d = config_.hidden_size, vocab = config_.vocab_size;
        if (options_.head == Head::last_logits) x = graph_.emit(ops::take_last(), "last", {x, count_});
        const ValueId weight =
            config_.tie_word_embeddings ? wte : parameter("lm_head.weight", {vocab, d}, weight_initializer(d, false));
        const ValueId bias = config_.lm_head_bias ? parameter("lm_head.bias", {vocab}, bias_initializer(d)) : ValueId{};
        if (options_.head == Head::loss) {
            const ValueId targets = input("targets");
            balance(targets);
            graph_.emit(ops::lm_head_loss(), "loss", {x, weight, bias, targets});
            return;
        }
        const ValueId logits =
            graph_.emit(ops::linear(), "logits", {x, weight, bias}, {{"activation", std::string("none")}});
        graph_.value(logits).role = Role::result;
    }

    ValueId input(const std::string& name) {
        return input(name, {DType::i32, {options_.batch, options_.sequence_length}});
    }
    ValueId row_input(const std::string& name) { return input(name, {DType::i32, {options_.batch}}); }

    ValueId input(const std::string& name, const TensorDesc& desc) {
        Value value;
        value.name = name;
        value.desc = desc;
        value.role = Role::input;
        return graph_.add_value(value);
    }

    /// (B,Hkv,C,Dh): the keys of a head lie one after the other, as attention streams them.
    ValueId cache(const std::string& name) {
        Value value;
        value.name = name;
        value.desc = {options_.dtype,
                      {options_.batch, config_.num_key_value_heads, options_.cache_length, config_.head_dim}};
        value.role = Role::cache;
        return graph_.add_value(value);
    }

    ValueId constant(const std::string& name, const Shape& shape, Initializer initializer) {
        Value value;
        value.name = name;
        value.desc = {options_.dtype, shape};
        value.role = Role::constant;
        value.initializer = std::move(initializer);
        return graph_.add_value(std::move(value));
    }

    ValueId parameter(const std::string& name, const Shape& shape, Initializer initializer) {
        Value value;
        value.name = name;
        value.desc = {options_.dtype, shape};
        value.role = Role::parameter;
        value.trainable = true;
        value.initializer = std::move(initializer);
        return graph_.add_value(value);
    }

    static Initializer normal(double deviation) { return {Initializer::Kind::normal, deviation}; }

    /// gpt2: N(0, range), for residual projections N(0, range / sqrt(2 L)); normal: N(0, range) for all; pytorch:
    /// U(+-1/sqrt(fan_in)).
    Initializer weight_initializer(std::int64_t fan_in, bool residual) const {
        if (config_.init == InitKind::pytorch) return fan_in_uniform(fan_in);
        const double layers = static_cast<double>(config_.num_hidden_layers);
        const bool smaller = residual && config_.init == InitKind::gpt2;
        return normal(config_.initializer_range / (smaller ? std::sqrt(2 * layers) : 1.0));
    }
    Initializer bias_initializer(std::int64_t fan_in) const {
        return config_.init == InitKind::pytorch ? fan_in_uniform(fan_in) : Initializer{};
    }
    static Initializer fan_in_uniform(std::int64_t fan_in) {
        return {Initializer::Kind::uniform, 1.0 / std::sqrt(static_cast<double>(fan_in))};
    }

    bool cached() const { return options_.cache_length > 0; }
    bool pre_norm() const { return config_.norm != NormKind::none && config_.norm_placement == NormPlacement::pre; }
    bool post_norm() const { return config_.norm != NormKind::none && config_.norm_placement == NormPlacement::post; }

    const ModelConfig& config_;
    const CausalLmOptions& options_;
    Graph graph_;
    ValueId past_, count_;  ///< with a cache: (B) tokens each row has read, (B) tokens it reads now
    ValueId rope_table_;
    ValueId mask_, attention_mask_;
    std::vector<ValueId> balance_inputs_;  ///< offsets and score sums of each layer with experts
};

}  // namespace

Graph build_causal_lm(const ModelConfig& config, const CausalLmOptions& options) {
    return CausalLm(config, options).build();
}

}  // namespace causeway
