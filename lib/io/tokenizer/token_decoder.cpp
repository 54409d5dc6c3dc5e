#include "io/tokenizer/token_decoder.hpp"

#include <charconv>

#include "base/format.hpp"
#include "io/tokenizer/byte_level.hpp"

namespace causeway {
namespace {

/// The byte that <0x0A> stands for, as one character; empty for other tokens.
std::string fallback_byte(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return "";
    unsigned char byte = 0;
    const auto [end, error] = std::from_chars(token.data() + 3, token.data() + 5, byte, 16);
    if (error != std::errc() || end != token.data() + 5) return "";
    return std::string(1, static_cast<char>(byte));
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

}  // namespace

TokenDecoder::TokenDecoder(const JsonField& field, bool byte_level_words) {
    if (field.is_null()) byte_level_ = byte_level_words;
    read(field, 0);
}

void TokenDecoder::read(const JsonField& field, int depth) {
    constexpr int deepest = 8;
    constexpr std::size_t most = 1024;
    if (field.is_null()) return;
    const std::string type = field.type();
    if (type == "Sequence") {
        if (depth == deepest) field.refuse("sequences within sequences go too deep");
        for (const JsonField& inner : field["decoders"].elements()) read(inner, depth + 1);
    } else if (type == "ByteLevel") {
        byte_level_ = true;
    } else if (type == "ByteFallback") {
        byte_fallback_ = true;
    } else if (type == "Replace") {
        const std::string from = field["pattern"]["String"].text();
        if (from.empty()) field["pattern"].refuse("an empty pattern is not supported");
        replacements_.emplace_back(from, field["content"].text());
    } else if (type == "Strip") {
        const JsonField start = field["start"];
        if (!start.value().is_number_unsigned() || start.value().get<std::size_t>() > most) {
            start.refuse_value(fmt::format("a number from 0 to {}", most));
        }
        if (most_stripped_ > 0) field.refuse("a second Strip is not supported");
        field["stop"].require_null_or(0, "taking something off the end");
        most_stripped_ = start.value().get<std::size_t>();
        stripped_ = field["content"].text();
        if (stripped_.empty()) field["content"].refuse_value("a character");
    } else if (type != "Fuse") {
        field.refuse(
            fmt::format("the decoder \"{}\" is not supported; there are ByteLevel, ByteFallback, Fuse, Replace, "
                        "Strip and Sequence",
                        type));
    }
}

std::string TokenDecoder::bytes_of(std::string_view token) const {
    std::string text(token);
    for (const auto& [from, to] : replacements_) replace_all(text, from, to);
    if (byte_fallback_) {
        if (std::string byte = fallback_byte(text); !byte.empty()) return byte;
    }
    if (!byte_level_) return text;
    return byte_level::to_bytes(text).value_or(text);
}

void TokenDecoder::strip_start(std::string_view& text) const {
    for (std::size_t i = 0; i < most_stripped_ && text.starts_with(stripped_); ++i) {
        text.remove_prefix(stripped_.size());
    }
}

}  // namespace causeway
