#include "config/read_model.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/format.hpp"
#include "config/families/family.hpp"
#include "config/field_table.hpp"
#include "config/nearest_name.hpp"

namespace causeway::config {
namespace {

/// What transformers writes into any config.json and what changes nothing here: descriptions, ids that generation takes
/// from generation_config.json, settings of its own classes.
constexpr std::array harmless_everywhere{"architectures",
                                         "transformers_version",
                                         "torch_dtype",
                                         "dtype",
                                         "_name_or_path",
                                         "_commit_hash",
                                         "_attn_implementation",
                                         "_attn_implementation_autoset",
                                         "attn_implementation",
                                         "auto_map",
                                         "bos_token_id",
                                         "eos_token_id",
                                         "pad_token_id",
                                         "sep_token_id",
                                         "decoder_start_token_id",
                                         "use_cache",
                                         "is_decoder",
                                         "tokenizer_class",
                                         "prefix",
                                         "task_specific_params",
                                         "problem_type",
                                         "id2label",
                                         "label2id",
                                         "finetuning_task",
                                         "gradient_checkpointing",
                                         "return_dict",
                                         "output_attentions",
                                         "output_hidden_states",
                                         "output_past",
                                         "chunk_size_feed_forward",
                                         "torchscript",
                                         "use_bfloat16",
                                         "tie_encoder_decoder",
                                         "tf_legacy_loss",
                                         "remove_invalid_values",
                                         "return_dict_in_generate",
                                         "output_scores",
                                         "max_length",
                                         "min_length",
                                         "do_sample",
                                         "early_stopping",
                                         "num_beams",
                                         "num_beam_groups",
                                         "diversity_penalty",
                                         "temperature",
                                         "top_k",
                                         "top_p",
                                         "typical_p",
                                         "repetition_penalty",
                                         "length_penalty",
                                         "no_repeat_ngram_size",
                                         "encoder_no_repeat_ngram_size",
                                         "bad_words_ids",
                                         "num_return_sequences",
                                         "forced_bos_token_id",
                                         "forced_eos_token_id",
                                         "begin_suppress_tokens",
                                         "suppress_tokens",
                                         "exponential_decay_length_penalty"};

/// Keys of any family that are supported at one value.
const std::vector<FixedKey>& fixed_everywhere() {
    static const std::vector<FixedKey> keys{{"is_encoder_decoder", false},
                                            {"add_cross_attention", false},
                                            {"pruned_heads", Json::object()},
                                            {"partial_rotary_factor", 1.0},
                                            {"quantization_config", nullptr}};
    return keys;
}

/// Of an object with the settings of RoPE.
const std::vector<FixedKey>& fixed_in_rope() {
    static const std::vector<FixedKey> keys{
        {"partial_rotary_factor", 1.0}, {"truncate", true},        {"mscale", nullptr},
        {"mscale_all_dim", nullptr},    {"short_factor", nullptr}, {"long_factor", nullptr},
        {"mrope_section", nullptr}};
    return keys;
}

const FixedKey* find_fixed(const std::vector<FixedKey>& keys, const std::string& key) {
    const auto found = std::find_if(keys.begin(), keys.end(), [&](const FixedKey& fixed) { return fixed.key == key; });
    return found == keys.end() ? nullptr : &*found;
}

class ModelReader {
  public:
    ModelReader(Config& config, const Family& family, const Where& where)
        : config_(config), family_(family), where_(where), section_(*find_section("model")) {}

    void read(Json values) {
        if (family_.rewrite != nullptr) family_.rewrite(values, where_);
        for (const auto& [key, value] : values.items()) read_key(key, value);
    }

  private:
    Where at(const std::string& key) const { return inside(where_, key); }

    /// null is how these files say "the default".
    void read_key(const std::string& key, const Json& value) {
        if (key == "model_type") return;  // known already
        if (key == "rope_scaling" || key == "rope_parameters") return read_rope(key, value);
        const std::string name = field_of_key(family_, key);
        if (const Field* field = find_field(section_, name.empty() ? key : name)) {
            if (!value.is_null()) set(*field, value, at(key));
        } else if (!is_fixed(family_.fixed, key, value, key) && !is_fixed(fixed_everywhere(), key, value, key) &&
                   !is_harmless(key)) {
            fail_unknown(key);
        }
    }

    void read_rope(const std::string& object, const Json& values) {
        if (values.is_null()) return;
        if (family_.defaults.position_embedding != PositionKind::rope && object == "rope_scaling") {
            return fail_unknown(object);
        }
        if (!values.is_object()) fail_value(at(object), values, "an object");
        for (const auto& [key, value] : values.items()) {
            const std::string path = object + "." + key;
            const std::string name = key == "type" ? "rope_type" : key;
            if (const Field* field = find_field(section_, "rope_parameters." + name)) {
                if (!value.is_null()) set(*field, value, at(path));
            } else if (!is_fixed(fixed_in_rope(), key, value, path)) {
                fail(at(path), "unknown setting of RoPE");
            }
        }
    }

    /// Two keys may say the same, not different things.
    void set(const Field& field, const Json& value, const Where& where) {
        const Json before = field.write(config_);
        field.read(config_, value, where);
        const auto [first, is_new] = set_by_.emplace(field.key, where.path);
        if (!is_new && field.write(config_) != before) {
            fail(where, fmt::format("found {}, but {} says {}", describe(value), first->second, describe(before)));
        }
    }

    /// True when the key is one of these; fails when its value is another than the one there is.
    bool is_fixed(const std::vector<FixedKey>& keys, const std::string& key, const Json& value,
                  const std::string& path) const {
        const FixedKey* fixed = find_fixed(keys, key);
        if (fixed == nullptr) return false;
        if (value.is_null() || value == fixed->value) return true;
        fail(at(path), fmt::format("found {}, expected {}: other values change what the model computes and are not "
                                   "supported",
                                   value.is_structured() ? value.dump() : describe(value), fixed->value.dump()));
    }

    bool is_harmless(const std::string& key) const {
        return std::find(harmless_everywhere.begin(), harmless_everywhere.end(), key) != harmless_everywhere.end() ||
               std::find(family_.harmless.begin(), family_.harmless.end(), key) != family_.harmless.end();
    }

    [[noreturn]] void fail_unknown(const std::string& key) const {
        if (!where_.path.empty() && section_with_field(key) != nullptr) {
            fail_unknown_field(section_, key, where_.origin);
        }
        std::vector<std::string> keys;
        for (const FamilyField& field : family_.fields) keys.push_back(field.key.empty() ? field.field : field.key);
        const std::string nearest = nearest_name(key, keys);
        fail(at(key),
             fmt::format("unknown key of model_type {}{}; known: {}. Remove it if the model is the same "
                         "without it",
                         family_.model_type, nearest.empty() ? "" : fmt::format(", did you mean \"{}\"?", nearest),
                         fmt::join(keys, ", ")));
    }

    Config& config_;
    const Family& family_;
    Where where_;
    const Section& section_;
    std::map<std::string, std::string> set_by_;  ///< by field: the first key that set it
};

/// Fields of Causeway's own table and nothing else; those of an object stand under "object.key".
void read_free_model(Config& config, const Json& values, const Where& where) {
    const Section& section = *find_section("model");
    const auto read = [&](const std::string& key, const Json& value) {
        const Field* field = find_field(section, key);
        if (field == nullptr) fail_unknown_field(section, key, where.origin);
        field->read(config, value, {section.name + "." + key, where.origin});
    };
    for (const auto& [key, value] : values.items()) {
        if (!is_object_of(section, key)) {
            read(key, value);
            continue;
        }
        if (!value.is_object()) fail_value({section.name + "." + key, where.origin}, value, "an object");
        for (const auto& [inner, inner_value] : value.items()) read(key + "." + inner, inner_value);
    }
}

}  // namespace

void read_model(Config& config, const Json& values, const Where& where, const std::string& model_type,
                const ModelConfig* start) {
    if (!values.is_object()) fail_value(where, values, "an object");
    const Field& type = *find_field(*find_section("model"), "model_type");
    if (start != nullptr) config.model = *start;
    if (const auto given = values.find("model_type"); given != values.end())
        type.read(config, *given, inside(where, "model_type"));
    if (!model_type.empty()) type.read(config, model_type, {"model.model_type", "override"});
    const Family* family = find_family(config.model.model_type);
    if (family == nullptr) return read_free_model(config, values, where);
    if (start == nullptr) config.model = family->defaults;
    ModelReader(config, *family, where).read(values);
}

}  // namespace causeway::config
