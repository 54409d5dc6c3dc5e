#include "inspect/trace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/format.hpp"
#include "base/philox.hpp"
#include "base/random_domain.hpp"
#include "causeway/error.hpp"
#include "compile/compile.hpp"
#include "exec/model_runtime.hpp"
#include "inspect/text_table.hpp"
#include "inspect/textbook_attention.hpp"

namespace causeway {
namespace {

void check_options(const Config& config, const TraceOptions& options) {
    const auto require = [](bool holds, const std::string& message) {
        if (!holds) throw DataError(message);
    };
    const ModelConfig& model = config.model;
    require(options.batch >= 1, fmt::format("the trace's batch must be at least 1, found {}", options.batch));
    require(options.sequence_length >= 1 && options.sequence_length <= model.max_position_embeddings,
            fmt::format("the trace's sequence length must be 1 to {} (model.max_position_embeddings), found {}",
                        model.max_position_embeddings, options.sequence_length));
    require(options.layer >= 0 && options.layer < model.num_hidden_layers,
            fmt::format("layer {} does not exist: there are {} (0 to {})", options.layer, model.num_hidden_layers,
                        model.num_hidden_layers - 1));
}

/// A forward pass of one attention path on one instruction set, all values readable.
class ForwardPass {
  public:
    ForwardPass(Config config, const TraceOptions& options, AttentionPath path, std::optional<Isa> isa)
        : options_(options), runtime_(make(config, options, path, isa)) {
        runtime_.initialize(options.seed);
        Executor& executor = runtime_.executor("logits");
        RandomStream random(options.seed, stream_of(RandomDomain::trace_tokens, 0));
        for (std::int32_t& id : executor.values<std::int32_t>("tokens")) {
            id = static_cast<std::int32_t>(random.next_below(static_cast<std::uint64_t>(config.model.vocab_size)));
        }
        if (options.mask) std::ranges::copy(options.mask->visible, executor.values<std::uint8_t>("mask").begin());
        executor.run(Phase::step, {});
    }

    const ExecutionPlan& plan() { return runtime_.plan("logits"); }

    /// The node of the traced layer's attention.
    const PlannedNode& attention_node() {
        std::int64_t layer = 0;
        for (const PlannedNode& node : plan().nodes) {
            const bool attention = node.op == "attention" || node.op == "attention_explicit";
            if (attention && layer++ == options_.layer) return node;
        }
        throw GraphError(fmt::format("plan '{}' has no attention in layer {}", plan().mode, options_.layer));
    }

    AttentionLayer layer() {
        const PlannedNode& node = attention_node();
        AttentionLayer layer{copy(node.inputs[0]), copy(node.outputs[0]), {}};
        if (node.op == "attention_explicit") layer.weights = copy(node.outputs[1]);
        return layer;
    }

  private:
    static ModelRuntime make(Config& config, const TraceOptions& options, AttentionPath path, std::optional<Isa> isa) {
        config.runtime.attention = path;
        CompileOptions compiled;
        compiled.mode = Mode::logits;
        compiled.batch = options.batch;
        compiled.sequence_length = options.sequence_length;
        compiled.fuse = false;
        compiled.keep_values = true;
        compiled.isa = isa;
        if (options.mask) compiled.mask = options.mask->shape;
        SharedLayout layout;
        std::vector<ExecutionPlan> plans;
        plans.push_back(compile(config, compiled, layout));
        return ModelRuntime(std::move(plans), static_cast<int>(config.runtime.threads),
                            config.runtime.memory_limit_bytes());
    }

    std::vector<float> copy(std::int32_t value) {
        const std::span<const float> data = runtime_.executor("logits").values<float>(value);
        return {data.begin(), data.end()};
    }

    TraceOptions options_;
    ModelRuntime runtime_;
};

double largest_difference(const std::vector<float>& a, const std::vector<float>& b) {
    double largest = a.size() == b.size() ? 0 : std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
        if (!(difference <= largest)) largest = difference;  // a NaN stays
    }
    return largest;
}

/// x, q, k, v and what becomes of them: the shapes of the traced attention.
std::vector<TraceEntry> attention_entries(const Trace& trace, const ModelConfig& model, const TraceOptions& options,
                                          const AttentionRule& rule) {
    const std::int64_t b = options.batch, t = options.sequence_length, h = trace.heads, g = trace.kv_heads,
                       d = trace.head_dim;
    std::vector<TraceEntry> entries{
        {"x", {b, t, trace.hidden_size}, "what the layer attends over (B,T,D)"},
        {"q", {b, t, h * d}, "queries of all heads side by side (B,T,H*Dh)"},
        {"k", {b, t, g * d}, "keys of all key-value heads side by side (B,T,Hkv*Dh)"},
        {"v", {b, t, g * d}, "values of all key-value heads side by side (B,T,Hkv*Dh)"},
    };
    if (model.qk_norm) {
        entries.push_back({"normed q", {b, t, h, d}, "each head divided by its root mean square, times a gain"});
        entries.push_back({"normed k", {b, t, g, d}, "the same for the keys' heads"});
    }
    if (model.position_embedding == PositionKind::rope) {
        entries.push_back({"rotated q", {b, t, h, d}, "pairs of each head turned by the query's position"});
        entries.push_back({"rotated k", {b, t, g, d}, "pairs of each head turned by the key's position"});
    }
    if (g != h) {
        entries.push_back({"repeated k", {b, t, h, d}, "keys as the query heads see them; never stored"});
        entries.push_back({"repeated v", {b, t, h, d}, "values as the query heads see them; never stored"});
    }
    entries.push_back({"scores",
                       {b, h, t, t},
                       fmt::format("{:.6g} q k^T{}, before any mask (B,H,T,T)", trace.scale,
                                   rule.slopes.empty() ? "" : " - slope |distance|")});
    entries.push_back({"weights", {b, h, t, t}, "softmax over the keys a query may see (B,H,T,T)"});
    entries.push_back({"heads", {b, t, h * d}, "weights v, heads merged (B,T,H*Dh)"});
    entries.push_back({"output", {b, t, trace.hidden_size}, "output projection (B,T,D)"});
    return entries;
}

std::string routing_meaning(const std::string& part) {
    if (part == "experts") return "experts of each token, the best first (B,T,k)";
    if (part == "offsets") return "first row of each expert among the sorted ones";
    if (part == "order") return "token * k + choice of each sorted row";
    if (part == "slots") return "sorted row of each token's choices";
    return "softmax of the router's logits over all experts (B,T,E)";
}

std::string meaning_of(const PlannedNode& node, std::size_t output, const std::string& name) {
    if (output == 0) return node.summary;
    const std::string part = name.substr(std::min(name.size(), node.name.size() + 1));
    if (part == "weights") return "attention weights, rows sum to 1 (B,H,T,T)";
    if (part == "lse") return "log of the sum of exponentials of each row of scores (B,H,T)";
    if (node.op == "moe_route") return routing_meaning(part);
    if (part == "mean") return "mean of each row";
    if (part == "rstd" && node.op == "layernorm") return "1 / standard deviation of each row";
    if (part == "rstd") return "1 / root mean square of each row";
    return fmt::format("{} of {}", part, node.summary);
}

std::vector<TraceEntry> plan_entries(const ExecutionPlan& plan) {
    std::vector<TraceEntry> entries;
    for (const PlannedValue& value : plan.values) {
        if (value.role != Role::input) continue;
        const bool mask = value.name == "mask";
        entries.push_back({value.name, value.desc.shape, mask ? "keys that each query may see" : "token ids (B,T)"});
    }
    for (const PlannedNode& node : plan.nodes) {
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            const PlannedValue& value = plan.values[static_cast<std::size_t>(node.outputs[i])];
            if (value.role == Role::packed) continue;
            entries.push_back({value.name, value.desc.shape, meaning_of(node, i, value.name)});
        }
    }
    return entries;
}

void fill_first_head(Trace& trace, const AttentionLayer& layer, const QkvIndex& at, const AttentionRule& rule) {
    const std::int64_t length = at.length;
    for (std::int64_t t = 0; t < length; ++t) {
        double row_sum = 0;
        for (std::int64_t s = 0; s < length; ++s) {
            double sum = 0;
            for (std::int64_t d = 0; d < at.head_dim; ++d) {
                const auto offset = static_cast<std::size_t>(d);
                sum += static_cast<double>(layer.qkv[at.q(0, t, 0) + offset]) *
                       static_cast<double>(layer.qkv[at.k(0, s, 0) + offset]);
            }
            const double weight = static_cast<double>(layer.weights[static_cast<std::size_t>(t * length + s)]);
            trace.scores.push_back(rule.scale * sum + static_cast<double>(rule.bias(0, t, s)));
            trace.weights.push_back(weight);
            row_sum += weight;
            if (s > t) trace.future_mass += weight;
        }
        trace.row_sums.push_back(row_sum);
    }
}

void fill_sums(Trace& trace, const AttentionLayer& layer, const AttentionRule& rule) {
    const std::int64_t length = trace.length;
    const auto rows = static_cast<std::int64_t>(layer.weights.size()) / length;
    for (std::int64_t r = 0; r < rows; ++r) {
        const std::int64_t b = r / length / trace.heads, h = r / length % trace.heads, t = r % length;
        double sum = 0;
        bool sees_any = false;
        for (std::int64_t s = 0; s < length; ++s) {
            const double weight = static_cast<double>(layer.weights[static_cast<std::size_t>(r * length + s)]);
            const bool visible = rule.sees(b, h, t, s);
            sum += weight;
            sees_any = sees_any || visible;
            if (!visible) trace.hidden_mass += weight;
            if (s > t) trace.future_mass_everywhere += weight;
        }
        if (!sees_any) ++trace.blind_queries;
        const double error = std::abs(sum - (sees_any ? 1 : 0));
        trace.largest_row_sum_error = std::max(trace.largest_row_sum_error, error);
    }
}

std::string matrix_text(const std::vector<double>& matrix, std::int64_t length) {
    std::string text;
    for (std::int64_t t = 0; t < length; ++t) {
        text += t == 0 ? "[[" : " [";
        for (std::int64_t s = 0; s < length; ++s) {
            text += fmt::format("{}{:>7.4f}", s == 0 ? "" : " ", matrix[static_cast<std::size_t>(t * length + s)]);
        }
        text += t + 1 == length ? "]]\n" : "]\n";
    }
    return text;
}

std::string entries_text(const std::vector<TraceEntry>& entries) {
    TextTable table({{"name"}, {"shape"}, {"meaning"}});
    for (const TraceEntry& entry : entries) table.add({entry.name, to_string(entry.shape), entry.meaning});
    return table.str();
}

}  // namespace

Trace trace_model(const Config& config, const TraceOptions& asked) {
    TraceOptions options = asked;
    if (options.sequence_length == 0) {
        options.sequence_length = config.train.sequence_length <= 10 ? config.train.sequence_length : 5;
    }
    check_options(config, options);
    const AttentionRule rule(config.model, options.mask ? &*options.mask : nullptr);
    Trace trace;
    trace.layer = options.layer;
    trace.hidden_size = config.model.hidden_size;
    trace.heads = config.model.num_attention_heads;
    trace.kv_heads = config.model.num_key_value_heads;
    trace.head_dim = config.model.head_dim;
    trace.length = options.sequence_length;
    trace.scale = rule.scale;
    trace.causal = rule.causal;
    const QkvIndex at{options.sequence_length, trace.heads, trace.kv_heads, trace.head_dim};

    ForwardPass shown(config, options, AttentionPath::explicit_weights, std::nullopt);
    ForwardPass fast(config, options, AttentionPath::tiled, std::nullopt);
    ForwardPass plain(config, options, AttentionPath::explicit_weights, Isa::reference);
    const AttentionLayer layer = shown.layer(), plain_layer = plain.layer();

    trace.attention = attention_entries(trace, config.model, options, rule);
    trace.intermediates = plan_entries(shown.plan());
    fill_first_head(trace, layer, at, rule);
    fill_sums(trace, layer, rule);
    trace.explicit_vs_fast = largest_difference(layer.heads, fast.layer().heads);
    const AttentionLayer textbook = textbook_attention(plain_layer.qkv, at, options.batch, rule);
    trace.explicit_vs_reference_order = std::max(largest_difference(plain_layer.weights, textbook.weights),
                                                 largest_difference(plain_layer.heads, textbook.heads));
    return trace;
}

std::string trace_text(const Trace& trace) {
    std::string text =
        fmt::format("hidden_size={} num_attention_heads={} num_key_value_heads={} head_dim={}{}\n\n", trace.hidden_size,
                    trace.heads, trace.kv_heads, trace.head_dim, trace.causal ? "" : " causal=false");
    text += fmt::format("attention of layer {}\n{}\n", trace.layer, entries_text(trace.attention));
    text += fmt::format("every value of the forward pass\n{}\n", entries_text(trace.intermediates));
    text += fmt::format("scores of batch 0, head 0 (before any mask)\n{}\n", matrix_text(trace.scores, trace.length));
    text += fmt::format("weights of batch 0, head 0\n{}", matrix_text(trace.weights, trace.length));
    double total = 0;
    text += "row_sums_for_batch0_head0=";
    for (std::size_t t = 0; t < trace.row_sums.size(); ++t) {
        text += fmt::format("{}{:.7f}", t == 0 ? "" : " ", trace.row_sums[t]);
        total += trace.row_sums[t];
    }
    text += fmt::format("\nsum_for_batch0_head0={:.7f}\n", total);
    text += fmt::format("largest_row_sum_error={:.3g}\n", trace.largest_row_sum_error);
    text += fmt::format("queries_that_see_no_key={}\n", trace.blind_queries);
    text += fmt::format("hidden_attention_mass={:.10f}\n", trace.hidden_mass);
    text += fmt::format("future_attention_mass_for_batch0_head0={:.10f}\n", trace.future_mass);
    text += fmt::format("future_attention_mass={:.10f}\n", trace.future_mass_everywhere);
    text += fmt::format("explicit_vs_fast_max_abs_diff={:.10f}\n", trace.explicit_vs_fast);
    text += fmt::format("explicit_vs_reference_order_max_abs_diff={:.10f}\n", trace.explicit_vs_reference_order);
    return text;
}

}  // namespace causeway
