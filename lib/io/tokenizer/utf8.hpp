#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace causeway::utf8 {

/// A character and the bytes it took. `bytes` is 0 where no valid character begins.
struct Decoded {
    char32_t character = 0;
    std::size_t bytes = 0;
};

/// The character that begins at text[at]: no overlong forms, no surrogates, nothing above U+10FFFF.
Decoded decode(std::string_view text, std::size_t at);

/// The character that ends right before text[at] in valid text; bytes is 0 at its start.
Decoded decode_before(std::string_view text, std::size_t at);

void append(std::string& text, char32_t character);

/// The length of the longest beginning of `text` that is valid. O(n), eight bytes at a time where they are ASCII.
std::size_t valid_prefix(std::string_view text);

/// The length of what is invalid at the start of `text`: up to the next byte at which a valid character begins.
std::size_t invalid_prefix(std::string_view text);

/// The length of the longest beginning of `text` whose bytes are all below `limit` (at most 0x80... 0xFF). O(n).
std::size_t prefix_below(std::string_view text, unsigned char limit);

/// Unicode's White_Space.
bool is_space(char32_t character);

}  // namespace causeway::utf8
