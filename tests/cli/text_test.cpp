#include "text.hpp"

#include "causeway/error.hpp"
#include "support/catch.hpp"

using namespace causeway;
using namespace causeway::cli;

namespace {

/// What comes out after each byte of `bytes`, '|' between, and at the end.
std::string pieces(const std::string& bytes, bool clean) {
    TokenPrinter printer(byte_tokenizer(), clean);
    std::string out;
    for (const char byte : bytes) out += printer.add(static_cast<unsigned char>(byte)) + "|";
    return out + printer.finish();
}

}  // namespace

TEST_CASE("A character of several bytes comes out whole") {
    for (const bool clean : {false, true}) {
        CHECK(pieces("a\u00e9z", clean) == "a||\u00e9|z|");
        CHECK(pieces("\u20ac", clean) == "||\u20ac|");
        CHECK(pieces("\U0001F600", clean) == "|||\U0001F600|");
    }
}

TEST_CASE("Bytes that are no UTF-8 pass unchanged to files, as U+FFFD to terminals") {
    CHECK(pieces("a\xFF"
                 "b",
                 false) == "a|\xFF|b|");
    CHECK(pieces("a\xFF"
                 "b",
                 true) == "a|\uFFFD|b|");
    CHECK(pieces("\xC3(", true) == "|\uFFFD(|");       // a lead byte without its continuation
    CHECK(pieces("\xE2\x82", false) == "||\xE2\x82");  // cut off at the end
    CHECK(pieces("\xE2\x82", true) == "||\uFFFD");
    CHECK(pieces("\xE0\x80\x80", true) == "|\uFFFD\uFFFD|\uFFFD|");  // overlong
    CHECK(pieces("\xED\xA0\x80", true) == "|\uFFFD\uFFFD|\uFFFD|");  // a surrogate
    CHECK(pieces("\xF4\x90\x80\x80", true) == "|\uFFFD\uFFFD|\uFFFD|\uFFFD|");
    CHECK(pieces("\xC3\xC3\xA9", false) == "|\xC3|\u00e9|");
}

TEST_CASE("Escape sequences do not reach a terminal") {
    CHECK(pieces("\x1b[2J\n\t\x7f", true) == "\uFFFD|[|2|J|\n|\t|\uFFFD|");
    CHECK(pieces("\xC2\x9B", true) == "|\uFFFD|");  // CSI as one character
    CHECK(pieces("\x1b[2J", false) == "\x1b|[|2|J|");
}

TEST_CASE("Tokens of tasks are numbers, tokens above a byte have no text") {
    const auto print = [](TokenPrinter printer, std::initializer_list<std::int32_t> tokens) {
        std::string out;
        for (const std::int32_t token : tokens) out += printer.add(token);
        return out += printer.finish();
    };
    CHECK(print({nullptr, false}, {5, 17, 300}) == "5 17 300");
    CHECK(print({byte_tokenizer(), false}, {0xC3, 300, 'a'}) ==
          "\xC3\uFFFD"
          "a");
}

TEST_CASE("Tokens come from text or from a list of ids") {
    const std::string text = "A\xFF", ids = "5, 17,3 9", bad = "5,x", empty, huge = "99999999999";
    CHECK(tokens_of(byte_tokenizer().get(), &text, nullptr, "prompt") == std::vector<std::int32_t>{65, 255});
    CHECK(tokens_of(nullptr, nullptr, &ids, "prompt") == std::vector<std::int32_t>{5, 17, 3, 9});
    CHECK_THROWS_MESSAGE(tokens_of(nullptr, nullptr, &bad, "prompt"), DataError,
                         "prompt: found \"5,x\", expected token ids such as 5,17,3");
    CHECK_THROWS_MESSAGE(tokens_of(nullptr, nullptr, &huge, "prompt"), DataError, "expected token ids");
    CHECK_THROWS_MESSAGE(tokens_of(byte_tokenizer().get(), &empty, nullptr, "prompt"), DataError,
                         "the prompt is empty");
    CHECK_THROWS_MESSAGE(tokens_of(nullptr, nullptr, &empty, "text"), DataError, "the text is empty");
}
