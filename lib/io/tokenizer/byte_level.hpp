#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace causeway::byte_level {

/// GPT-2's one-to-one map of bytes to printable characters, in which byte-level vocabularies are written: what is
/// printable in Latin-1 stands for itself, the other 68 bytes are U+0100 and up.
const std::array<char32_t, 256>& characters();

/// The text of a token: one character a byte.
std::string to_text(std::string_view bytes);

/// Back again; nothing when a character of `text` stands for no byte.
std::optional<std::string> to_bytes(std::string_view text);

}  // namespace causeway::byte_level
