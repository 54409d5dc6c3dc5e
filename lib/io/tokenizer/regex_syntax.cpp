#include "io/tokenizer/regex_syntax.hpp"

#include <algorithm>
#include <array>

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {
namespace {

/// Members of \w, to stand within a set.
constexpr std::string_view word_members = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";
constexpr std::array<std::string_view, 2> property_names{"Any", "Alphabetic"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

/// L, Lu, Nd, ...: a general category, as opposed to a script.
bool is_category(std::string_view name) {
    constexpr std::string_view majors = "LMNPSZC";
    return (name.size() == 1 || (name.size() == 2 && is_lower(name[1]))) &&
           majors.find(name[0]) != std::string_view::npos;
}

class Translator {
  public:
    explicit Translator(std::string_view pattern) : in_(pattern) {}

    std::string take() {
        while (at_ < in_.size()) {
            switch (in_[at_]) {
                case '\\':
                    escape();
                    break;
                case '[':
                    set();
                    break;
                case '(':
                    group();
                    break;
                case '{':
                    interval();
                    break;
                default:
                    out_.push_back(in_[at_++]);
            }
        }
        return std::move(out_);
    }

  private:
    [[noreturn]] void refuse(std::string_view what) const {
        throw DataError(
            fmt::format("the pattern \"{}\" has {} at byte {}, which is not supported here", in_, what, at_));
    }

    char peek(std::size_t ahead) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }

    void copy(std::size_t bytes) {
        out_ += in_.substr(at_, bytes);
        at_ += bytes;
    }
    void replace(std::size_t bytes, std::string_view text) {
        out_ += text;
        at_ += bytes;
    }

    void escape() {
        const char c = peek(1);
        const bool in_set = in_set_;
        switch (c) {
            case '\0':
                refuse("a backslash at its end");
            case 's':
                return replace(2, R"(\p{White_Space})");
            case 'S':
                return replace(2, R"(\P{White_Space})");
            case 'w':
                return replace(2, in_set ? std::string(word_members) : fmt::format("[{}]", word_members));
            case 'W':
                if (in_set) refuse(R"(\W in a set)");
                return replace(2, fmt::format("[^{}]", word_members));
            case 'b':
                if (in_set) return copy(2);
                return replace(2, fmt::format("(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))", word_members));
            case 'p':
            case 'P':
                return property();
            case 'u':
                return code_point();
            case 'x':
                if (peek(2) != '{' && peek(2) >= '8') refuse(R"(\x of a part of a character)");
                return copy(2);
            case 'd':
            case 'D':
            case 'A':
            case 'z':
            case 'Z':
                return copy(2);
            default:
                break;
        }
        if (is_digit(c) || (is_lower(c) && std::string_view("aefnrtv").find(c) == std::string_view::npos) ||
            (c >= 'A' && c <= 'Z')) {
            refuse(fmt::format("\\{}", c));
        }
        copy(2);
    }

    /// \p{Name}: PCRE2 would take a script's name for all characters that are used with it.
    void property() {
        const std::size_t end = in_.find('}', at_);
        if (peek(2) != '{' || end == std::string_view::npos) refuse(fmt::format("\\{} without {{...}}", peek(1)));
        std::string_view name = in_.substr(at_ + 3, end - at_ - 3);
        const bool negated = name.starts_with('^');
        if (negated) name.remove_prefix(1);
        const bool known = is_category(name) || std::ranges::find(property_names, name) != property_names.end();
        out_ += fmt::format("\\{}{{{}{}{}}}", peek(1), negated ? "^" : "", known ? "" : "sc:", name);
        at_ = end + 1;
    }

    /// \uHHHH
    void code_point() {
        const std::string_view digits = in_.substr(at_ + 2, 4);
        if (digits.size() != 4 || !std::ranges::all_of(digits, is_hex)) refuse("\\u without four digits");
        replace(6, fmt::format("\\x{{{}}}", digits));
    }

    void set() {
        in_set_ = true;
        copy(1);
        if (peek(0) == '^') copy(1);
        if (peek(0) == ']') refuse("a set that begins with ]");
        while (at_ < in_.size() && in_[at_] != ']') {
            if (in_[at_] == '\\') {
                escape();
                continue;
            }
            if (in_[at_] == '[') refuse("a set within a set");
            if (in_[at_] == '&' && peek(1) == '&') refuse("&& in a set");
            copy(1);
        }
        if (at_ == in_.size()) refuse("a set without end");
        copy(1);
        in_set_ = false;
    }

    /// After "(?": i, m and x switch options, the rest are kinds of groups.
    void group() {
        if (peek(1) != '?') return copy(1);
        const std::string_view rest = in_.substr(at_ + 2);
        for (const std::string_view kind : {":", "=", "!", ">", "<=", "<!"}) {
            if (rest.starts_with(kind)) return copy(2 + kind.size());
        }
        const std::size_t end = rest.find_first_of(":)");
        const std::string_view options = rest.substr(0, end);
        if (end == std::string_view::npos || options.find_first_not_of("imx-") != std::string_view::npos) {
            refuse(fmt::format("the group (?{}", rest.substr(0, 1)));
        }
        // In the middle, the option would hold for other alternatives than PCRE2's.
        if (rest[end] == ')' && at_ != 0) refuse(fmt::format("(?{}) in its middle", options));
        std::string translated(options);
        std::ranges::replace(translated, 'm', 's');
        out_ += fmt::format("(?{}{}", translated, rest[end]);
        at_ += 2 + end + 1;
    }

    /// {n}, {n,}, {,m}, {n,m}; any other brace is a character.
    void interval() {
        const std::size_t end = in_.find('}', at_);
        const std::string_view inside = end == std::string_view::npos ? "" : in_.substr(at_ + 1, end - at_ - 1);
        const bool counts = !inside.empty() && inside != "," && std::ranges::count(inside, ',') <= 1 &&
                            std::ranges::all_of(inside, [](char c) { return is_digit(c) || c == ','; });
        if (!counts) return replace(1, "\\{");
        const char next = end + 1 < in_.size() ? in_[end + 1] : '\0';
        if (next == '+') refuse("a + after {n,m}");
        if (next == '?' && inside.find(',') == std::string_view::npos) refuse("a ? after {n}");
        if (inside.starts_with(',')) out_ += "{0";
        const std::size_t skip = inside.starts_with(',') ? 1 : 0;
        at_ += skip;
        copy(end + 1 - at_);
    }

    std::string_view in_;
    std::size_t at_ = 0;
    std::string out_;
    bool in_set_ = false;
};

}  // namespace

std::string translate_pattern(std::string_view pattern) { return Translator(pattern).take(); }

}  // namespace causeway
