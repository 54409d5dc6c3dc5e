#include "io/tokenizer/byte_level.hpp"

#include "base/utf8.hpp"

namespace causeway::byte_level {
namespace {

constexpr char32_t first_stand_in = 0x100;

constexpr bool stands_for_itself(unsigned byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::array<char32_t, 256> make_characters() {
    std::array<char32_t, 256> map{};
    char32_t next = first_stand_in;
    for (unsigned byte = 0; byte < map.size(); ++byte) map[byte] = stands_for_itself(byte) ? byte : next++;
    return map;
}

constexpr std::array<char32_t, 256> map = make_characters();

std::optional<unsigned> byte_of(char32_t character) {
    if (character < first_stand_in) {
        return stands_for_itself(character) ? std::optional<unsigned>(character) : std::nullopt;
    }
    for (unsigned byte = 0; byte < map.size(); ++byte) {
        if (map[byte] == character) return byte;
    }
    return std::nullopt;
}

}  // namespace

const std::array<char32_t, 256>& characters() { return map; }

std::string to_text(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) utf8::append(text, map[static_cast<unsigned char>(byte)]);
    return text;
}

std::optional<std::string> to_bytes(std::string_view text) {
    std::string bytes;
    for (std::size_t at = 0; at < text.size();) {
        const utf8::Decoded found = utf8::decode(text, at);
        if (found.bytes == 0) return std::nullopt;
        const std::optional<unsigned> byte = byte_of(found.character);
        if (!byte) return std::nullopt;
        bytes.push_back(static_cast<char>(*byte));
        at += found.bytes;
    }
    return bytes;
}

}  // namespace causeway::byte_level
