#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/tokenizer/json_field.hpp"

namespace causeway {

/// How tokens become text again.
class TokenDecoder {
  public:
    /// Of the field "decoder" of a tokenizer.json: null, ByteLevel, Replace, ByteFallback, Fuse, Strip, or a Sequence
    /// of such. Without one, tokens are what the pre-tokenizer made of the text. Throws IoError for others.
    TokenDecoder(const JsonField& field, bool byte_level_words);

    /// The bytes of a token that is written `token` in the vocabulary.
    std::string bytes_of(std::string_view token) const;

    /// Takes off a text's beginning what the tokenizer had put there.
    void strip_start(std::string_view& text) const;

  private:
    void read(const JsonField& field, int depth);

    bool byte_level_ = false;
    bool byte_fallback_ = false;
    std::vector<std::pair<std::string, std::string>> replacements_;
    std::string stripped_;
    std::size_t most_stripped_ = 0;
};

}  // namespace causeway
