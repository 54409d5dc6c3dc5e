#include "inspect/report/html.hpp"

#include <cstddef>

#include "base/utf8.hpp"

namespace causeway::report {
namespace {

/// Empty for a character that stands for itself.
std::string_view entity(char c) {
    switch (c) {
        case '&':
            return "&amp;";
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        case '"':
            return "&quot;";
        case '\'':
            return "&#39;";
        default:
            return {};
    }
}

}  // namespace

std::string html_text(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size());
    while (!bytes.empty()) {
        const utf8::Decoded found = utf8::decode(bytes, 0);
        const std::string_view character = bytes.substr(0, found.bytes == 0 ? 1 : found.bytes);
        if (found.bytes == 0 || !utf8::is_printable(found.character)) {
            out += utf8::replacement;
        } else {
            const std::string_view escaped = entity(character[0]);
            out += escaped.empty() ? character : escaped;
        }
        bytes.remove_prefix(character.size());
    }
    return out;
}

}  // namespace causeway::report
