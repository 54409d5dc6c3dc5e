#include "config/hf_config.hpp"

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "config/families/family.hpp"
#include "config/field_table.hpp"

namespace causeway::config {
namespace {

std::string text_of(const Misfit& why) {
    return fmt::format("model.{} is {}, expected {}", why.field, why.found.dump(), why.expected.dump());
}

/// The family to write the model as.
const Family& target_of(const ModelConfig& model) {
    const Family* own = find_family(model.model_type);
    if (own != nullptr && !own->architecture.empty() && !misfit(*own, model)) return *own;
    std::string reasons;
    for (const Family& family : families()) {
        if (family.architecture.empty()) continue;
        // One with experts would not be read back as one without.
        if ((family.defaults.num_experts > 0) != (model.num_experts > 0)) continue;
        const std::optional<Misfit> why = misfit(family, model);
        if (!why) return family;
        reasons += fmt::format("; {}: {}", family.model_type, text_of(*why));
    }
    throw ConfigError(fmt::format("no model family of HuggingFace's has this composition{}", reasons));
}

}  // namespace

Json hf_config(const ModelConfig& model) {
    const Family& family = target_of(model);
    Config config;
    config.model = model;
    Json values;
    values["architectures"] = {family.architecture};
    values["model_type"] = family.model_type;
    for (const FamilyField& field : family.fields) {
        if (!field.key.empty()) values[field.key] = find_field(*find_section("model"), field.field)->write(config);
    }
    if (family.add_keys != nullptr) family.add_keys(values, model);
    return values;
}

}  // namespace causeway::config
