#include "config/check_rope.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/format.hpp"
#include "config/mistake.hpp"

namespace causeway::config {
namespace {

constexpr const char* type_name(RopeType type) {
    constexpr const char* names[] = {"default", "linear", "dynamic", "llama3", "yarn"};
    return names[static_cast<std::size_t>(type)];
}

/// A field that only some kinds of scaling read.
struct ScalingField {
    const char* key;
    double value, unset;
    std::vector<RopeType> readers;
};

std::vector<ScalingField> scaling_fields(const RopeConfig& rope) {
    const RopeConfig unset;
    using enum RopeType;
    return {{"factor", rope.factor, unset.factor, {linear, dynamic, llama3, yarn}},
            {"original_max_position_embeddings",
             static_cast<double>(rope.original_max_position_embeddings),
             0,
             {dynamic, llama3, yarn}},
            {"low_freq_factor", rope.low_freq_factor, unset.low_freq_factor, {llama3}},
            {"high_freq_factor", rope.high_freq_factor, unset.high_freq_factor, {llama3}},
            {"beta_fast", rope.beta_fast, unset.beta_fast, {yarn}},
            {"beta_slow", rope.beta_slow, unset.beta_slow, {yarn}},
            {"attention_factor", rope.attention_factor, unset.attention_factor, {yarn}}};
}

[[noreturn]] void fail_rope(const char* key, const std::string& origin, const std::string& message) {
    fail({std::string("model.rope_parameters.") + key, origin}, message);
}

/// A setting that the chosen scaling would ignore is a mistake.
void fields_fit_type(const RopeConfig& rope, const std::string& origin) {
    for (const ScalingField& field : scaling_fields(rope)) {
        if (field.value == field.unset || std::ranges::find(field.readers, rope.type) != field.readers.end()) continue;
        std::vector<const char*> readers;
        for (RopeType type : field.readers) readers.push_back(type_name(type));
        fail_rope(field.key, origin,
                  fmt::format("found {}, expected {} with rope_type {}: only {} reads it", field.value, field.unset,
                              type_name(rope.type), fmt::join(readers, ", ")));
    }
}

void values_are_in_order(const ModelConfig& model, const std::string& origin) {
    const RopeConfig& rope = model.rope_parameters;
    if (rope.type == RopeType::llama3 && rope.low_freq_factor >= rope.high_freq_factor) {
        fail_rope("low_freq_factor", origin,
                  fmt::format("found {}, expected less than high_freq_factor ({})", rope.low_freq_factor,
                              rope.high_freq_factor));
    }
    if (rope.type == RopeType::yarn && rope.beta_slow > rope.beta_fast) {
        fail_rope("beta_slow", origin,
                  fmt::format("found {}, expected at most beta_fast ({})", rope.beta_slow, rope.beta_fast));
    }
    if (rope.type == RopeType::yarn && rope.theta <= 1) {
        fail_rope("rope_theta", origin, fmt::format("found {}, expected more than 1 with rope_type yarn", rope.theta));
    }
    if (rope.type == RopeType::dynamic && model.head_dim < 4) {
        fail({"model.head_dim", origin},
             fmt::format("found {}, expected at least 4 with rope_type dynamic", model.head_dim));
    }
    if (rope.type != RopeType::unscaled && rope.factor < 1) {
        fail_rope("factor", origin, fmt::format("found {}, expected at least 1", rope.factor));
    }
}

}  // namespace

void check_rope(const Config& config, const std::string& origin) {
    const ModelConfig& model = config.model;
    if (model.position_embedding != PositionKind::rope) {
        if (model.rope_parameters == RopeConfig{}) return;
        fail({"model.rope_parameters", origin}, "found settings, expected none: model.position_embedding is not rope");
    }
    if (model.head_dim % 2 != 0) {
        fail({"model.head_dim", origin},
             fmt::format("found {}, expected an even number: model.position_embedding rope turns pairs of elements",
                         model.head_dim));
    }
    fields_fit_type(model.rope_parameters, origin);
    values_are_in_order(model, origin);
}

}  // namespace causeway::config
