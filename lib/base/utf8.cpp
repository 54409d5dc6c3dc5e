#include "base/utf8.hpp"

#include <cstring>

namespace causeway::utf8 {
namespace {

constexpr std::uint64_t high_bits = 0x8080808080808080;

unsigned char byte_at(std::string_view text, std::size_t at) { return static_cast<unsigned char>(text[at]); }

bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

/// Bytes of the character that begins with this byte; 0 when none does.
std::size_t length_of(unsigned char first) {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return 2;
    if (first >= 0xE0 && first <= 0xEF) return 3;
    return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

/// Whether the value needs that many bytes and is no surrogate.
bool is_proper(char32_t character, std::size_t bytes) {
    if (bytes == 3) return character >= 0x800 && (character < 0xD800 || character > 0xDFFF);
    return bytes != 4 || (character >= 0x10000 && character <= 0x10FFFF);
}

}  // namespace

Decoded decode(std::string_view text, std::size_t at) {
    if (at >= text.size()) return {};
    const unsigned char first = byte_at(text, at);
    const std::size_t bytes = length_of(first);
    if (bytes == 1) return {first, 1};
    if (bytes == 0 || bytes > text.size() - at) return {};
    char32_t character = first & (0x7Fu >> bytes);
    for (std::size_t i = 1; i < bytes; ++i) {
        const unsigned char next = byte_at(text, at + i);
        if (!is_continuation(next)) return {};
        character = (character << 6) | (next & 0x3Fu);
    }
    return is_proper(character, bytes) ? Decoded{character, bytes} : Decoded{};
}

bool may_begin(std::string_view text) {
    if (text.empty()) return false;
    const std::size_t bytes = length_of(byte_at(text, 0));
    if (bytes < text.size()) return false;
    // One of the two ends of what could follow is proper, or nothing between them.
    for (const char next : {'\x80', '\xBF'}) {
        const std::string whole = std::string(text) + std::string(bytes - text.size(), next);
        if (decode(whole, 0).bytes != 0) return true;
    }
    return false;
}

Decoded decode_before(std::string_view text, std::size_t at) {
    std::size_t start = at;
    while (start > 0 && at - start < 4) {
        --start;
        if (!is_continuation(byte_at(text, start))) break;
    }
    const Decoded found = decode(text.substr(0, at), start);
    return found.bytes == at - start ? found : Decoded{};
}

void append(std::string& text, char32_t character) {
    const auto put = [&](char32_t byte) { text.push_back(static_cast<char>(byte)); };
    if (character < 0x80) return put(character);
    if (character < 0x800) {
        put(0xC0 | (character >> 6));
    } else if (character < 0x10000) {
        put(0xE0 | (character >> 12));
        put(0x80 | ((character >> 6) & 0x3F));
    } else {
        put(0xF0 | (character >> 18));
        put(0x80 | ((character >> 12) & 0x3F));
        put(0x80 | ((character >> 6) & 0x3F));
    }
    put(0x80 | (character & 0x3F));
}

std::size_t prefix_below(std::string_view text, unsigned char limit) {
    std::size_t at = 0;
    while (at < text.size()) {
        std::uint64_t word = 0;
        while (at + sizeof word <= text.size()) {
            std::memcpy(&word, text.data() + at, sizeof word);
            if ((word & high_bits) != 0) break;
            at += sizeof word;
        }
        const std::size_t stop = at + sizeof word < text.size() ? at + sizeof word : text.size();
        for (; at < stop; ++at) {
            if (byte_at(text, at) >= limit) return at;
        }
    }
    return at;
}

std::size_t valid_prefix(std::string_view text) {
    std::size_t at = 0;
    for (;;) {
        at += prefix_below(text.substr(at), 0x80);
        if (at == text.size()) return at;
        do {
            const Decoded found = decode(text, at);
            if (found.bytes == 0) return at;
            at += found.bytes;
        } while (at < text.size() && byte_at(text, at) >= 0x80);
    }
}

std::size_t invalid_prefix(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size() && decode(text, at).bytes == 0) ++at;
    return at;
}

bool is_space(char32_t c) {
    return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
           c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

}  // namespace causeway::utf8
