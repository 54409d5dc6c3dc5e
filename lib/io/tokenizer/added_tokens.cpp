#include "io/tokenizer/added_tokens.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/utf8.hpp"

namespace causeway {
namespace {

/// Letters that Unicode counts as symbols: circled, squared and parenthesised ones.
bool is_enclosed_letter(char32_t c) {
    return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) || (c >= 0x1F150 && c <= 0x1F169) ||
           (c >= 0x1F170 && c <= 0x1F189);
}

/// What \w is to Rust: letters, marks, digits, connectors.
bool is_word(const utf8::Decoded& found) {
    constexpr char32_t non_joiner = 0x200C, joiner = 0x200D;
    if (found.bytes == 0) return false;
    const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(found.character));
    return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) || category == UTF8PROC_CATEGORY_PC ||
           found.character == non_joiner || found.character == joiner || is_enclosed_letter(found.character);
}

std::size_t blanks_before(std::string_view text, std::size_t at) {
    for (;;) {
        const utf8::Decoded found = utf8::decode_before(text, at);
        if (found.bytes == 0 || !utf8::is_space(found.character)) return at;
        at -= found.bytes;
    }
}

std::size_t blanks_after(std::string_view text, std::size_t at) {
    for (;;) {
        const utf8::Decoded found = utf8::decode(text, at);
        if (found.bytes == 0 || !utf8::is_space(found.character)) return at;
        at += found.bytes;
    }
}

}  // namespace

void AddedTokenFinder::add(std::string pattern, const AddedToken& token) {
    const auto place = std::ranges::lower_bound(entries_, pattern, {}, &Entry::pattern);
    if (place != entries_.end() && place->pattern == pattern) return;
    const auto first = static_cast<unsigned char>(pattern[0]);
    only_start_ = entries_.empty() || only_start_ == first ? first : -1;
    starts_[first] = true;
    entries_.insert(place, {std::move(pattern), token});
}

/// Narrows the ordered patterns byte by byte; the last that ends on the way is the longest.
const AddedTokenFinder::Entry* AddedTokenFinder::longest_at(std::string_view text) const {
    auto first = entries_.begin(), last = entries_.end();
    const Entry* longest = nullptr;
    for (std::size_t i = 0; first != last; ++i) {
        if (first->pattern.size() == i) {
            longest = &*first;
            ++first;
        }
        if (i == text.size()) break;
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto at = [i](const Entry& entry) { return static_cast<unsigned char>(entry.pattern[i]); };
        first = std::lower_bound(first, last, byte, [&](const Entry& e, unsigned char b) { return at(e) < b; });
        last = std::upper_bound(first, last, byte, [&](unsigned char b, const Entry& e) { return b < at(e); });
    }
    return longest;
}

/// The next token from position.scan on; `begin` is where it starts, with the blanks that go with it.
std::optional<AddedSpan> AddedTokenFinder::find(std::string_view text, Position& position, std::size_t& begin) const {
    while (position.scan < text.size()) {
        if (only_start_ >= 0) {
            const void* const found =
                std::memchr(text.data() + position.scan, only_start_, text.size() - position.scan);
            if (found == nullptr) break;
            position.scan = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
        }
        const Entry* const entry =
            starts_[static_cast<unsigned char>(text[position.scan])] ? longest_at(text.substr(position.scan)) : nullptr;
        if (entry == nullptr) {
            ++position.scan;
            continue;
        }
        begin = position.scan;
        std::size_t end = begin + entry->pattern.size();
        position.scan = end;
        const AddedToken& token = entry->token;
        if (token.single_word && (is_word(utf8::decode_before(text, begin)) || is_word(utf8::decode(text, end)))) {
            continue;
        }
        if (token.lstrip) begin = std::max(blanks_before(text, begin), position.at);
        if (token.rstrip) end = blanks_after(text, end);
        return AddedSpan{text.substr(begin, end - begin), token.id};
    }
    position.scan = text.size();
    return std::nullopt;
}

std::optional<AddedSpan> AddedTokenFinder::next(std::string_view text, Position& position) const {
    if (position.token) {
        const AddedSpan token = *position.token;
        position.token.reset();
        position.at = static_cast<std::size_t>(token.text.data() - text.data()) + token.text.size();
        return token;
    }
    std::size_t begin = text.size();
    if (!entries_.empty()) position.token = find(text, position, begin);
    if (!position.token) {
        if (position.at >= text.size()) return std::nullopt;
        const std::size_t start = std::exchange(position.at, text.size());
        return AddedSpan{text.substr(start), std::nullopt};
    }
    if (begin <= position.at) return next(text, position);
    return AddedSpan{text.substr(position.at, begin - position.at), std::nullopt};
}

}  // namespace causeway
