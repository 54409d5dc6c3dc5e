#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace causeway {

/// Text to token ids and back. Thread-safe: one object serves any number of threads.
class Tokenizer {
  public:
    virtual ~Tokenizer() = default;

    /// Ids lie in [0, vocab_size()); some of them may stand for nothing.
    virtual std::int64_t vocab_size() const = 0;

    /// Appends the ids of `text` (any bytes) to `ids`. Added tokens written in the text become their ids; nothing is
    /// put before or after.
    virtual void encode(std::string_view text, std::vector<std::int32_t>& ids) const = 0;

    /// Appends the bytes of `ids` to `text`; special tokens are written like others unless `skip_special`. The bytes of
    /// a token may be part of a character. Throws DataError for an id outside the vocabulary.
    virtual void decode(std::span<const std::int32_t> ids, std::string& text, bool skip_special = false) const = 0;

    /// The id of a token given by its text ("<|endoftext|>"), if there is one.
    virtual std::optional<std::int32_t> find(std::string_view token) const = 0;
};

/// Each byte is a token, whose id is the byte.
std::shared_ptr<const Tokenizer> byte_tokenizer();

/// The tokenizer of a config's data.tokenizer: bytes when `path` is empty, otherwise a HuggingFace tokenizer.json or
/// the folder it is in. Throws IoError for the file, with what is wrong or not supported.
std::shared_ptr<const Tokenizer> open_tokenizer(const std::string& path);

}  // namespace causeway
