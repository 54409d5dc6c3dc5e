#include "base/utf8.hpp"

#include "support/catch.hpp"

using namespace causeway;

TEST_CASE("B60: the beginnings of characters are told from what never becomes one") {
    for (const char* text : {"a", "\xC3", "\xC3\xA9", "\xE0", "\xE0\xA0", "\xE2\x82", "\xED\x9F", "\xF0\x90", "\xF0",
                             "\xF4\x8F\xBF", "\xF0\x9F\x98\x80"}) {
        CHECK(utf8::may_begin(text));
    }
    for (const char* text : {"", "ab", "\x80", "\xC0", "\xC3(", "\xE0\x80", "\xE0\x9F", "\xED\xA0", "\xF0\x8F",
                             "\xF4\x90", "\xF5", "\xE2\x82(", "\xC3\xA9x"}) {
        CHECK_FALSE(utf8::may_begin(text));
    }
}

TEST_CASE("B60: control characters are C0, DEL and C1, newline and tab are printed") {
    for (const char32_t c : {0x00, 0x1B, 0x1F, 0x7F, 0x80, 0x9B, 0x9F}) {
        CHECK(utf8::is_control(c));
        CHECK_FALSE(utf8::is_printable(c));
    }
    for (const char32_t c : {U' ', U'~', U'\u00A0', U'\u20AC'}) CHECK_FALSE(utf8::is_control(c));
    CHECK(utf8::is_printable('\n'));
    CHECK(utf8::is_printable('\t'));
    CHECK_FALSE(utf8::is_printable('\r'));
}

TEST_CASE("B60: a byte order mark is taken off once, and only from the front") {
    CHECK(utf8::without_byte_order_mark("\xEF\xBB\xBF"
                                        "a")
              .size() == 1);
    CHECK(utf8::without_byte_order_mark("\xEF\xBB").size() == 2);
    CHECK(utf8::without_byte_order_mark("a\xEF\xBB\xBF").size() == 4);
}
