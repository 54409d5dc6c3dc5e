#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "config/config.hpp"
#include "io/mapped_file.hpp"

namespace causeway {

/// How the tokens of a file lie in it: `count` little-endian numbers of `type`, one after the other from `offset` on.
struct TokenLayout {
    TokenType type = TokenType::uint16;  ///< never automatic
    std::size_t offset = 0;              ///< in bytes
    std::int64_t count = 0;
};

/// Bytes of a token; 0 for automatic.
std::size_t width_of(TokenType type);

/// The type's name in configs.
std::string_view name_of(TokenType type);

/// Finds out how the tokens lie in `file`, the whole content of the file at `path`, from its beginning and size; the
/// tokens themselves are not looked at. Files of llm.c (header 20240520: uint16; 20240801: uint32) and NumPy's .npy
/// (u1, u2, u4, i4, i8; of any shape, in C order) say it themselves. Another file is numbers of type `wanted` from its
/// first byte on; with automatic it must be called .bin and is uint16, as nanoGPT writes it. Throws IoError, with what
/// was found and expected, for a file without tokens, a header that disagrees with the size of the file or with
/// `wanted`, and a size that is no whole number of tokens.
TokenLayout find_token_layout(const std::string& path, std::span<const std::byte> file, TokenType wanted);

/// A file of tokens, mapped and never read whole: files larger than memory are fine.
class TokenFile {
  public:
    /// See find_token_layout; throws IoError for a file that cannot be opened too.
    explicit TokenFile(const std::string& path, TokenType wanted = TokenType::automatic);

    const std::string& path() const { return file_.path(); }
    const TokenLayout& layout() const { return layout_; }
    const MappedFile& mapping() const { return file_; }
    /// The first token, which need not be aligned; valid as long as this object, wherever it moves.
    const std::byte* data() const { return file_.bytes().data() + layout_.offset; }

  private:
    MappedFile file_;
    TokenLayout layout_;
};

}  // namespace causeway
