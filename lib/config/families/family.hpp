#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/json.hpp"
#include "config/mistake.hpp"

namespace causeway::config {

/// A field of section "model" that a family leaves free.
struct FamilyField {
    std::string field;
    std::string key;  ///< what the family's config.json calls it; empty when it has no such key
};

/// A key of a family's config.json that Causeway supports at one value only: another would change the model.
struct FixedKey {
    std::string key;
    Json value;
};

/// A family of models on HuggingFace: what its config.json says and means. Facts from transformers'
/// configuration_<family>.py and, for minimind, from that project's model file. One file a family.
struct Family {
    std::string model_type;
    std::string architecture;         ///< class that transformers loads it into; empty: exported as another family
    ModelConfig defaults;             ///< fields that are not given; 0 where one derives from others
    std::vector<FamilyField> fields;  ///< free ones, in the order they are written; all others keep their default
    std::vector<FamilyField> other_names{};  ///< further keys that are read as a field
    std::vector<FixedKey> fixed{};
    std::vector<std::string> harmless{};  ///< keys that change nothing that is computed here
    /// Replaces keys that depend on each other by plain ones, before anything is read. `where` is the section.
    void (*rewrite)(Json& values, const Where& where) = nullptr;
    /// Sets fields that are 0 as the family derives them, before the general rules do.
    void (*derive)(ModelConfig& model) = nullptr;
    /// Completes the config.json of an export.
    void (*add_keys)(Json& values, const ModelConfig& model) = nullptr;
};

// One file each.
Family gpt2_family();
Family llama_family();
Family qwen3_family();
Family qwen3_moe_family();
Family minimind_family();

/// All of them.
const std::vector<Family>& families();
/// The family of a model_type; null for "causeway", which is none, and for unknown names.
const Family* find_family(const std::string& model_type);
/// "causeway" and the families: what model.model_type may be.
std::vector<std::string> model_types();

/// The field that `key` means in a config.json of the family: "hidden_size" for gpt2's "n_embd"; empty when none.
std::string field_of_key(const Family& family, const std::string& key);

/// A field whose value a family does not have.
struct Misfit {
    std::string field;
    Json found, expected;
};
/// The first field of a resolved model that is not free in the family and differs from its default; none when the
/// family can express the model.
std::optional<Misfit> misfit(const Family& family, const ModelConfig& model);

/// Writes rope_parameters (transformers 5) with rope_theta and rope_scaling (transformers 4).
void add_rope_keys(Json& values, const ModelConfig& model);

}  // namespace causeway::config
