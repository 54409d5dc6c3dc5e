#include "config/check.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "base/limits.hpp"
#include "config/check_data.hpp"
#include "config/check_rope.hpp"
#include "config/check_samples.hpp"
#include "config/check_train.hpp"
#include "config/families/family.hpp"
#include "config/mistake.hpp"

namespace causeway::config {
namespace {

using Rule = void (*)(const Config&, const std::string& origin);

void family_has_the_model(const Config& config, const std::string& origin) {
    const Family* family = find_family(config.model.model_type);
    if (family == nullptr) return;
    if (const auto why = misfit(*family, config.model)) {
        fail({"model." + why->field, origin},
             fmt::format("found {}, expected {}: model.model_type is {}; with causeway every field is free",
                         why->found.dump(), why->expected.dump(), family->model_type));
    }
}

/// Where it does not follow from the hidden size, head_dim stays 0 until someone gives it.
void head_dim_is_known(const Config& config, const std::string& origin) {
    const ModelConfig& model = config.model;
    if (model.head_dim == 0) {
        fail({"model.num_attention_heads", origin},
             fmt::format("found {}, expected a divisor of model.hidden_size ({}) unless model.head_dim is given",
                         model.num_attention_heads, model.hidden_size));
    }
}

void tiled_attention_has_small_heads(const Config& config, const std::string& origin) {
    if (config.runtime.attention == AttentionPath::tiled && config.model.head_dim > max_tiled_head_dim) {
        fail({"runtime.attention", origin},
             fmt::format("found tiled, expected explicit: model.head_dim is {}, tiled attention takes at most {}",
                         config.model.head_dim, max_tiled_head_dim));
    }
}

void key_value_heads_divide_heads(const Config& config, const std::string& origin) {
    const ModelConfig& model = config.model;
    if (model.num_attention_heads % model.num_key_value_heads != 0) {
        fail({"model.num_key_value_heads", origin},
             fmt::format("found {}, expected a divisor of model.num_attention_heads ({})", model.num_key_value_heads,
                         model.num_attention_heads));
    }
}

void norm_placement_needs_norm(const Config& config, const std::string& origin) {
    if (config.model.norm == NormKind::none && config.model.norm_placement == NormPlacement::post) {
        fail({"model.norm_placement", origin}, "found post, expected pre: model.norm is none, so nothing is placed");
    }
}

void intermediate_size_needs_mlp(const Config& config, const std::string& origin) {
    if (config.model.mlp == MlpKind::none && config.model.intermediate_size != 0) {
        fail({"model.intermediate_size", origin},
             fmt::format("found {}, expected 0: model.mlp is none", config.model.intermediate_size));
    }
}

void experts_are_gated_mlps(const Config& config, const std::string& origin) {
    const ModelConfig& model = config.model;
    if (model.num_experts == 0) {
        // A family's config may have this size without experts.
        if (model.moe_intermediate_size == 0 || model.model_type != "causeway") return;
        fail({"model.moe_intermediate_size", origin},
             fmt::format("found {}, expected 0: model.num_experts is 0", model.moe_intermediate_size));
    }
    const std::string experts = fmt::format("model.num_experts is {}", model.num_experts);
    if (model.mlp != MlpKind::gated) {
        fail({"model.mlp", origin}, fmt::format("expected gated: {}, and experts are gated MLPs", experts));
    }
    if (model.mlp_bias) fail({"model.mlp_bias", origin}, fmt::format("found true, expected false: {}", experts));
    if (model.num_experts_per_tok > model.num_experts) {
        fail({"model.num_experts_per_tok", origin},
             fmt::format("found {}, expected at most {}: {}", model.num_experts_per_tok, model.num_experts, experts));
    }
}

void sequence_fits_context(const Config& config, const std::string& origin) {
    if (config.train.sequence_length > config.model.max_position_embeddings) {
        fail({"train.sequence_length", origin},
             fmt::format("found {}, expected at most model.max_position_embeddings ({})", config.train.sequence_length,
                         config.model.max_position_embeddings));
    }
}

/// Queries, keys and values of a token together.
double attention_width(const ModelConfig& model) {
    return static_cast<double>(model.num_attention_heads + 2 * model.num_key_value_heads) *
           static_cast<double>(model.head_dim);
}

/// Values that `rows` sequences of `length` tokens make the model store at most, as a real number that cannot overflow.
double largest_activations(const ModelConfig& model, double rows, double length) {
    const double choices = static_cast<double>(model.num_experts_per_tok);
    const double experts =
        model.num_experts == 0
            ? 0.0
            : 8.0 * static_cast<double>(model.num_experts) +
                  8.0 * choices * static_cast<double>(model.moe_intermediate_size + model.hidden_size);
    const double block = 16.0 * static_cast<double>(model.hidden_size) + 16.0 * attention_width(model) +
                         8.0 * static_cast<double>(model.intermediate_size) + experts +
                         4.0 * static_cast<double>(model.num_attention_heads) * length;
    return rows * length *
           (static_cast<double>(model.num_hidden_layers) * block + 2.0 * static_cast<double>(model.vocab_size));
}

double most_parameters(const ModelConfig& model) {
    const double block =
        static_cast<double>(model.hidden_size) + 2.0 * attention_width(model) +
        4.0 * static_cast<double>(model.intermediate_size) +
        static_cast<double>(model.num_experts) * (1.0 + 4.0 * static_cast<double>(model.moe_intermediate_size));
    const double tables =
        2.0 * static_cast<double>(model.vocab_size) + static_cast<double>(model.max_position_embeddings);
    const double rotations = static_cast<double>(model.max_position_embeddings) * static_cast<double>(model.head_dim);
    return static_cast<double>(model.hidden_size) * (static_cast<double>(model.num_hidden_layers) * block + tables) +
           rotations;
}

/// Everything after this computes sizes in 64-bit integers; no machine comes near these limits.
void sizes_stay_countable(const Config& config, const std::string& origin) {
    const TrainConfig& train = config.train;
    const auto rows = static_cast<double>(train.batch_size);
    const auto length = static_cast<double>(train.sequence_length);
    const auto context = static_cast<double>(config.model.max_position_embeddings);
    const double values =
        4.0 * most_parameters(config.model) +
        std::max(largest_activations(config.model, rows, length), largest_activations(config.model, 1.0, context));
    constexpr double most_values = 1e17;
    if (values > most_values) {
        fail({"model", origin},
             fmt::format("about {:.1e} values would be stored, expected at most {:.0e}: make the model, "
                         "model.max_position_embeddings or train.batch_size smaller",
                         values, most_values));
    }
    const double tokens =
        rows * length * static_cast<double>(train.gradient_accumulation_steps) * static_cast<double>(train.max_steps);
    constexpr double most_tokens = 1e18;
    if (tokens > most_tokens) {
        fail({"train.max_steps", origin},
             fmt::format("found {}, which trains on {:.1e} tokens, expected at most {:.0e}", train.max_steps, tokens,
                         most_tokens));
    }
}

// Later rules may rely on earlier ones.
constexpr Rule rules[] = {head_dim_is_known,
                          family_has_the_model,
                          key_value_heads_divide_heads,
                          check_rope,
                          norm_placement_needs_norm,
                          intermediate_size_needs_mlp,
                          experts_are_gated_mlps,
                          sequence_fits_context,
                          check_data,
                          check_samples,
                          check_train,
                          tiled_attention_has_small_heads,
                          sizes_stay_countable};

}  // namespace

void check_rules(const Config& config, const std::string& origin) {
    for (const Rule rule : rules) rule(config, origin);
}

}  // namespace causeway::config
