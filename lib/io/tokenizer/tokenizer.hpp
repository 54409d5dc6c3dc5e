#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace causeway {

/// Ids that stand before and after a text.
struct TextFrame {
    std::vector<std::int32_t> before, after;
};

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

    /// The bytes of one token as it stands within a text. Unlike decode, it takes nothing off a text's beginning, so it
    /// is what a text that grows token by token is made of. Throws DataError for an id outside the vocabulary.
    virtual std::string token_bytes(std::int32_t id) const = 0;

    /// True for a token that decode leaves out with skip_special.
    virtual bool is_special(std::int32_t id) const = 0;

    /// What the tokenizer's author puts around a text (its post-processor): the ids before and after. encode() leaves
    /// that to its caller.
    virtual const TextFrame& frame() const = 0;

    /// The first place from `from` on, before the end, where `text` may be cut in two: the ids of both parts, each
    /// encoded by itself, are then those of `text`. Nothing when none is known.
    virtual std::optional<std::size_t> safe_cut(std::string_view text, std::size_t from) const = 0;
};

/// Each byte is a token, whose id is the byte.
std::shared_ptr<const Tokenizer> byte_tokenizer();

/// The tokenizer of a config's data.tokenizer: bytes when `path` is empty, otherwise a HuggingFace tokenizer.json or
/// the folder it is in (docs/tokenizers.md says which are read). Throws IoError for the file, with what is wrong or not
/// supported.
std::shared_ptr<const Tokenizer> open_tokenizer(const std::string& path);

/// The file that open_tokenizer reads for a path that is not empty: the path, or tokenizer.json of the folder.
std::string tokenizer_file(const std::string& path);

/// The tokenizer of a tokenizer.json's text; `origin` is what messages call it. Throws IoError.
std::shared_ptr<const Tokenizer> parse_tokenizer(std::string_view json, const std::string& origin);

}  // namespace causeway
