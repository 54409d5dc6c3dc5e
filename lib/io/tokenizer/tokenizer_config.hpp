#pragma once

#include <optional>
#include <string>

namespace causeway {

/// What a tokenizer_config.json names: the token of transformers' eos_token.
struct TokenizerConfig {
    std::optional<std::string> eos;
};

/// Of the tokenizer_config.json beside a tokenizer.json; empty where there is none. Throws IoError for a file that is
/// no JSON object.
TokenizerConfig read_tokenizer_config(const std::string& tokenizer_file);

/// The path of that file, there or not.
std::string tokenizer_config_file(const std::string& tokenizer_file);

}  // namespace causeway
