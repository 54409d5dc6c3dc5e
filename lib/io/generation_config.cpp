#include "io/generation_config.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/mapped_file.hpp"

namespace causeway {
namespace {

using nlohmann::json;

class Reader {
  public:
    Reader(const std::string& path, const json& object) : path_(path), object_(object) {}

    GenerationConfig read() const {
        GenerationConfig config;
        if (const json* value = find("do_sample")) config.do_sample = boolean("do_sample", *value);
        config.temperature = number("temperature");
        config.top_p = number("top_p");
        config.min_p = number("min_p");
        config.repetition_penalty = number("repetition_penalty");
        config.top_k = integer("top_k");
        config.max_new_tokens = integer("max_new_tokens");
        config.eos_token_id = ids("eos_token_id");
        refuse_unsupported();
        return config;
    }

  private:
    /// A value that is there and not null.
    const json* find(std::string_view key) const {
        const auto found = object_.find(key);
        return found == object_.end() || found->is_null() ? nullptr : &*found;
    }

    [[noreturn]] void fail(std::string_view key, const json& found, std::string_view expected) const {
        throw IoError(fmt::format("{}: {}: found {}, expected {}", path_, key, found.dump(), expected));
    }

    bool boolean(std::string_view key, const json& value) const {
        if (!value.is_boolean()) fail(key, value, "true or false");
        return value.get<bool>();
    }

    std::optional<double> number(std::string_view key) const {
        const json* value = find(key);
        if (value == nullptr) return std::nullopt;
        if (!value->is_number()) fail(key, *value, "a number");
        return value->get<double>();
    }

    std::optional<std::int64_t> integer(std::string_view key) const {
        const json* value = find(key);
        if (value == nullptr) return std::nullopt;
        if (!value->is_number_integer()) fail(key, *value, "an integer");
        return value->get<std::int64_t>();
    }

    std::vector<std::int32_t> ids(std::string_view key) const {
        const json* value = find(key);
        if (value == nullptr) return {};
        std::vector<std::int32_t> list;
        for (const json& id : value->is_array() ? *value : json::array({*value})) {
            if (!id.is_number_integer()) fail(key, *value, "a token id or a list of them");
            list.push_back(id.get<std::int32_t>());
        }
        return list;
    }

    /// Settings of transformers that change what is generated, and the value with which they do nothing.
    void refuse_unsupported() const {
        const std::pair<const char*, json> neutral[] = {
            {"num_beams", 1},
            {"num_beam_groups", 1},
            {"no_repeat_ngram_size", 0},
            {"encoder_no_repeat_ngram_size", 0},
            {"encoder_repetition_penalty", 1.0},
            {"min_length", 0},
            {"min_new_tokens", 0},
            {"typical_p", 1.0},
            {"epsilon_cutoff", 0.0},
            {"eta_cutoff", 0.0},
            {"penalty_alpha", 0.0},
            {"guidance_scale", 1.0},
            {"bad_words_ids", json::array()},
            {"force_words_ids", json::array()},
            {"sequence_bias", json::array()},
            {"suppress_tokens", json::array()},
            {"begin_suppress_tokens", json::array()},
            {"forced_bos_token_id", nullptr},
            {"forced_eos_token_id", nullptr},
        };
        for (const auto& [key, value] : neutral) {
            const json* found = find(key);
            if (found == nullptr || *found == value) continue;
            fail(key, *found, fmt::format("{}: this setting is not supported", value.dump()));
        }
    }

    const std::string& path_;
    const json& object_;
};

}  // namespace

std::optional<GenerationConfig> load_generation_config(const std::string& path) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return std::nullopt;
    const MappedFile file(path);
    const json object = json::parse(file.text(), nullptr, false);
    if (!object.is_object()) throw IoError(fmt::format("{}: is no JSON object", path));
    return Reader(path, object).read();
}

}  // namespace causeway
