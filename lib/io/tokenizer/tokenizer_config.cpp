#include "io/tokenizer/tokenizer_config.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/mapped_file.hpp"

namespace causeway {
namespace {

/// "<s>" or {"content": "<s>", ...}; null and absent mean that there is none.
std::optional<std::string> token_of(const nlohmann::json& values, const char* name) {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    if (found->is_string()) return found->get<std::string>();
    if (found->is_object() && found->contains("content") && found->at("content").is_string()) {
        return found->at("content").get<std::string>();
    }
    return std::nullopt;
}

}  // namespace

std::string tokenizer_config_file(const std::string& tokenizer_file) {
    return (std::filesystem::path(tokenizer_file).parent_path() / "tokenizer_config.json").string();
}

TokenizerConfig read_tokenizer_config(const std::string& tokenizer_file) {
    const std::string path = tokenizer_config_file(tokenizer_file);
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return {};
    const MappedFile file(path);
    const auto values = nlohmann::json::parse(file.text(), nullptr, false);
    if (!values.is_object()) throw IoError(fmt::format("{}: is no JSON object", path));
    return {token_of(values, "eos_token")};
}

}  // namespace causeway
