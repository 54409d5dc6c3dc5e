#pragma once

#include <cstddef>
#include <string_view>

#include "io/tokenizer/pre_tokenizer.hpp"

namespace causeway {

/// GPT-2's pattern, which a ByteLevel with use_regex has.
inline constexpr std::string_view gpt2_pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// A pattern that the tokenizers of many models have. It matches anything, so each word begins where the one before it
/// ends.
struct KnownPattern {
    std::string_view name;
    std::string_view pattern;
    CutRule cut_rule;
    /// The end of the word that begins at text[at], told by looking at ASCII characters only; 0 when the word's end
    /// depends on others. Gives what the pattern gives, several times faster.
    std::size_t (*quick)(std::string_view text, std::size_t at);
};

/// Nullptr when the pattern is none of them.
const KnownPattern* find_known_pattern(std::string_view pattern);
/// By name: gpt2, qwen, llama3.
const KnownPattern* find_pattern_named(std::string_view name);

}  // namespace causeway
