#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace causeway::utf8 {

/// U+FFFD, which stands for what is no character.
inline constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// A text without the byte order mark that editors put before it.
inline std::string_view without_byte_order_mark(std::string_view text) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

/// A character and the bytes it took. `bytes` is 0 where no valid character begins.
struct Decoded {
    char32_t character = 0;
    std::size_t bytes = 0;
};

/// The character that begins at text[at]: no overlong forms, no surrogates, nothing above U+10FFFF.
Decoded decode(std::string_view text, std::size_t at);

/// Whether `text` is one character or the beginning of one. False for an empty text.
bool may_begin(std::string_view text);

/// The character that ends right before text[at] in valid text; bytes is 0 at its start.
Decoded decode_before(std::string_view text, std::size_t at);

void append(std::string& text, char32_t character);

/// The length of the longest beginning of `text` that is valid. O(n), eight bytes at a time where they are ASCII.
std::size_t valid_prefix(std::string_view text);

/// The length of what is invalid at the start of `text`: up to the next byte at which a valid character begins.
std::size_t invalid_prefix(std::string_view text);

/// The length of the longest beginning of `text` whose bytes are all below `limit` (at most 0x80... 0xFF). O(n).
std::size_t prefix_below(std::string_view text, unsigned char limit);

/// C0, DEL and C1.
constexpr bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

/// Not a control character (an escape sequence must not reach a terminal or a page) but newline and tab.
constexpr bool is_printable(char32_t c) { return c == '\n' || c == '\t' || !is_control(c); }

/// Unicode's White_Space.
bool is_space(char32_t character);

}  // namespace causeway::utf8
