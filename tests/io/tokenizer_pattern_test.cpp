#include <string>
#include <utility>
#include <vector>

#include "base/utf8.hpp"
#include "causeway/error.hpp"
#include "io/tokenizer/known_pattern.hpp"
#include "io/tokenizer/regex.hpp"
#include "io/tokenizer/regex_syntax.hpp"
#include "io/tokenizer_support.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

std::size_t never(std::string_view, std::size_t) { return 0; }

/// The pieces that a pattern cuts a text into.
template <class Quick>
std::vector<std::string> pieces(const Regex& regex, const std::string& text, Quick quick) {
    RegexScratch scratch;
    std::vector<std::string> found;
    regex.split(text, scratch, quick, [&](std::size_t begin, std::size_t end, bool matched) {
        found.push_back((matched ? "" : "~") + text.substr(begin, end - begin));
    });
    return found;
}

std::vector<std::string> pieces(const std::string& pattern, const std::string& text) {
    return pieces(Regex(pattern), text, never);
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("known patterns are matched quickly as PCRE2 matches them") {
    test::Bytes random(11);
    std::size_t quick_words = 0, words = 0;
    for (const char* name : {"gpt2", "qwen", "llama3"}) {
        const KnownPattern* const known = find_pattern_named(name);
        REQUIRE(known != nullptr);
        CHECK(find_known_pattern(known->pattern) == known);
        const Regex regex{std::string(known->pattern)};
        const auto counted = [&](std::string_view text, std::size_t at) {
            const std::size_t end = known->quick(text, at);
            ++words;
            if (end != 0) ++quick_words;
            return end;
        };
        for (int round = 0; round < 8000; ++round) {
            const std::string text = random.text(12, true);
            INFO(name << ": \"" << text << "\"");
            REQUIRE(pieces(regex, text, counted) == pieces(regex, text, never));
        }
    }
    CHECK(quick_words > words / 4);
    CHECK(quick_words < words);
}

TEST_CASE("every pair of ASCII characters is cut quickly as PCRE2 cuts it") {
    for (const char* name : {"gpt2", "qwen", "llama3"}) {
        const KnownPattern* const known = find_pattern_named(name);
        const Regex regex{std::string(known->pattern)};
        for (int pair = 0; pair < 128 * 128; ++pair) {
            const std::string text{static_cast<char>(pair / 128), static_cast<char>(pair % 128), ' ', '\'', 'S'};
            REQUIRE(pieces(regex, text, known->quick) == pieces(regex, text, never));
        }
    }
}

TEST_CASE("patterns mean what they mean to Oniguruma") {
    CHECK(pieces("\\s+", "a\u180eb\u0085c") == Strings{"~a\u180eb", "\u0085", "~c"});
    CHECK(pieces("\\w+", "a\u0301\u24d0_b\u203fc-d") == Strings{"a\u0301\u24d0_b\u203fc", "~-", "d"});
    CHECK(pieces("\\W", "a-b") == Strings{"~a", "-", "~b"});
    CHECK(pieces("a$", "a\nba") == Strings{"a", "~\nb", "a"});
    CHECK(pieces("(?m:a.b)", "a\nb") == Strings{"a\nb"});
    CHECK(pieces("a.b", "a\nb") == Strings{"~a\nb"});
    CHECK(pieces("\\p{Han}+", "a\u4e2d\u30fcb") == Strings{"~a", "\u4e2d", "~\u30fcb"});
    CHECK(pieces("\\bfoo\\b", "foo foo\u0301 food") == Strings{"foo", "~ foo\u0301 food"});
    CHECK(pieces("\\u00e9", "caf\u00e9") == Strings{"~caf", "\u00e9"});
    CHECK(pieces("x{,2}y", "xxxy") == Strings{"~x", "xxy"});
    CHECK(pieces("[^\\s\\p{L}]+", "ab, c") == Strings{"~ab", ",", "~ c"});
    CHECK(pieces("(?i)k", "K\u212a") == Strings{"K", "\u212a"});
    CHECK(pieces("{a}", "{a}") == Strings{"{a}"});
}

TEST_CASE("matches may be empty") {
    CHECK(pieces("b*", "abc") == Strings{"", "~a", "b", "~c", ""});
    CHECK(pieces("(?=\u00e9)", "a\u00e9\u00e9") == Strings{"~a", "", "~\u00e9", "", "~\u00e9"});
}

TEST_CASE("patterns that would mean something else are refused") {
    const auto refused = [](const std::string& pattern, const std::string& what) {
        INFO(pattern);
        CHECK_THROWS_MESSAGE(translate_pattern(pattern), DataError, what);
    };
    refused("\\p{N}{1,3}+", "a + after {n,m}");
    refused("a{2}?", "a ? after {n}");
    refused("[a-z&&[^b]]", "&& in a set");
    refused("[a[b]]", "a set within a set");
    refused("[\\W]", "\\W in a set");
    refused("[a", "a set without end");
    refused("[]a]", "a set that begins with ]");
    refused("\\h", "\\h");
    refused("\\Ga", "\\G");
    refused("(a)\\1", "\\1");
    refused("a(?i)b|c", "(?i) in its middle");
    refused("(?<name>a)", "the group (?<");
    refused("\\pL", "\\p without {...}");
    refused("\\u12", "\\u without four digits");
    refused("a\\", "a backslash at its end");
    CHECK_THROWS_MESSAGE(Regex("(a"), DataError, "cannot be compiled");
    CHECK_THROWS_MESSAGE(Regex("\\p{Nonsense}"), DataError, "cannot be compiled");
}

TEST_CASE("a pattern that goes astray is ended") {
    RegexScratch scratch;
    const Regex regex("(?:(?:a|aa)+)+[bd]");
    CHECK_THROWS_MESSAGE(regex.find(std::string(60, 'a') + "c", 0, scratch), DataError, "cannot be matched");
}

TEST_CASE("UTF-8 is told from what is none") {
    CHECK(utf8::valid_prefix("abc\u00e9\U0001F600") == 9);
    CHECK(utf8::valid_prefix("12345678\xC3(") == 8);
    for (const std::string bad :
         {"\x80", "\xC1\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF8", "\xE2\x82"}) {
        CHECK(utf8::valid_prefix(bad) == 0);
        CHECK(utf8::invalid_prefix(bad + "a") == bad.size());
    }
    CHECK(utf8::decode_before("a\u20ac", 4).character == 0x20AC);
    CHECK(utf8::decode_before("\x80", 1).bytes == 0);
    CHECK(utf8::decode_before("", 0).bytes == 0);
}
