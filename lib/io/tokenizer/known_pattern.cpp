#include "io/tokenizer/known_pattern.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace causeway {

namespace {

enum class Kind : std::uint8_t { other, letter, digit, blank, beyond };

constexpr std::array<Kind, 256> make_kinds() {
    std::array<Kind, 256> kinds{};
    for (unsigned c = 0; c < kinds.size(); ++c) {
        const unsigned lower = c | 0x20;
        kinds[c] = c >= 0x80                              ? Kind::beyond
                   : lower >= 'a' && lower <= 'z'         ? Kind::letter
                   : c >= '0' && c <= '9'                 ? Kind::digit
                   : c == ' ' || (c >= '\t' && c <= '\r') ? Kind::blank
                                                          : Kind::other;
    }
    return kinds;
}
constexpr std::array<Kind, 256> kinds = make_kinds();

constexpr std::size_t unknown = 0;

/// A text with what is asked about it most; nothing is at its end and beyond.
struct Text {
    std::string_view text;

    bool has(std::size_t at) const { return at < text.size(); }
    Kind kind(std::size_t at) const { return kinds[static_cast<unsigned char>(text[at])]; }
    bool is(std::size_t at, Kind wanted) const { return has(at) && kind(at) == wanted; }
    char lower(std::size_t at) const { return has(at) ? static_cast<char>(text[at] | 0x20) : '\0'; }
    bool ends_line(std::size_t at) const { return has(at) && (text[at] == '\n' || text[at] == '\r'); }
    /// The end of a run of one kind.
    std::size_t run(std::size_t at, Kind wanted) const {
        while (is(at, wanted)) ++at;
        return at;
    }
    /// The end of a run, unless the character there is one that may belong to it.
    std::size_t whole_run(std::size_t at, Kind wanted) const {
        const std::size_t end = run(at, wanted);
        return is(end, Kind::beyond) ? unknown : end;
    }
};

/// After an apostrophe: s, t, m, d, re, ve, ll. `at` is behind it; unknown when none of them follows.
std::size_t contraction(char first, char second, std::size_t at) {
    if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 1;
    const bool two =
        (first == 'r' && second == 'e') || (first == 'v' && second == 'e') || (first == 'l' && second == 'l');
    return two ? at + 2 : unknown;
}

/// \s+(?!\S)|\s+ for blanks from `at` to `end`: the last one goes with the word that follows.
std::size_t blanks(const Text& text, std::size_t at, std::size_t end) {
    return text.has(end) && end - at > 1 ? end - 1 : end;
}

std::size_t quick_gpt2(std::string_view view, std::size_t at) {
    const Text text{view};
    if (view[at] == '\'') {
        const auto plain = [&](std::size_t i) { return text.has(i) ? view[i] : '\0'; };
        if (const std::size_t end = contraction(plain(at + 1), plain(at + 2), at + 1); end != unknown) return end;
    }
    const std::size_t start = at + (view[at] == ' ' ? 1 : 0);
    if (text.has(start)) {
        const Kind kind = text.kind(start);
        if (kind == Kind::beyond) return unknown;
        if (kind != Kind::blank) return text.whole_run(start, kind);
    }
    const std::size_t end = text.whole_run(at, Kind::blank);
    return end == unknown ? unknown : blanks(text, at, end);
}

/// The patterns of Qwen and Llama 3, which differ in how many digits a number has at most.
template <std::size_t most_digits>
std::size_t quick_qwen(std::string_view view, std::size_t at) {
    const Text text{view};
    const Kind kind = text.kind(at);
    if (kind == Kind::beyond) return unknown;
    if (view[at] == '\'') {
        if (text.is(at + 1, Kind::beyond)) return unknown;  // U+017F is an s too
        if (const std::size_t end = contraction(text.lower(at + 1), text.lower(at + 2), at + 1); end != unknown) {
            return end;
        }
    }
    if (kind == Kind::letter) return text.whole_run(at, Kind::letter);
    if (kind == Kind::digit) {
        std::size_t end = at + 1;
        while (end - at < most_digits && text.is(end, Kind::digit)) ++end;
        return end - at < most_digits && text.is(end, Kind::beyond) ? unknown : end;
    }
    if (!text.ends_line(at) && text.has(at + 1)) {
        if (text.kind(at + 1) == Kind::beyond) return unknown;
        if (text.kind(at + 1) == Kind::letter) return text.whole_run(at + 1, Kind::letter);
    }
    const std::size_t start = at + (view[at] == ' ' ? 1 : 0);
    if (text.is(start, Kind::other)) {
        std::size_t end = text.whole_run(start, Kind::other);
        while (end != unknown && text.ends_line(end)) ++end;
        return end;
    }
    const std::size_t end = text.whole_run(at, Kind::blank);
    if (end == unknown) return unknown;
    for (std::size_t last = end; last > at; --last) {
        if (text.ends_line(last - 1)) return last;
    }
    return blanks(text, at, end);
}

constexpr std::array known{
    KnownPattern{"gpt2", gpt2_pattern, CutRule::at_blank, quick_gpt2},
    KnownPattern{
        "qwen",
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
        CutRule::line_or_word, quick_qwen<1>},
    KnownPattern{
        "llama3",
        R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
        CutRule::line_or_word, quick_qwen<3>},
};

const KnownPattern* find_by(std::string_view KnownPattern::*member, std::string_view wanted) {
    const auto found = std::ranges::find(known, wanted, member);
    return found == known.end() ? nullptr : &*found;
}

}  // namespace

const KnownPattern* find_known_pattern(std::string_view pattern) { return find_by(&KnownPattern::pattern, pattern); }
const KnownPattern* find_pattern_named(std::string_view name) { return find_by(&KnownPattern::name, name); }

}  // namespace causeway
