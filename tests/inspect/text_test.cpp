#include "inspect/text_table.hpp"
#include "inspect/units.hpp"
#include "support/catch.hpp"

using namespace causeway;

TEST_CASE("Quantities read well at every size", "[inspect]") {
    CHECK(count_text(0) == "0");
    CHECK(count_text(999) == "999");
    CHECK(count_text(8384) == "8,384");
    CHECK(count_text(63912192) == "63,912,192");
    CHECK(count_text(-1234) == "-1,234");
    CHECK(count_text(-123) == "-123");
    CHECK(bytes_text(0) == "0 B");
    CHECK(bytes_text(1023) == "1023 B");
    CHECK(bytes_text(1536) == "1.50 KiB");
    CHECK(bytes_text(33536) == "32.8 KiB");
    CHECK(bytes_text(498 * 1048576.0) == "498 MiB");
    CHECK(quantity_text(850) == "850");
    CHECK(quantity_text(12340) == "12.3 k");
    CHECK(quantity_text(7.89e9) == "7.89 G");
    CHECK(seconds_text(0) == "0 s");
    CHECK(seconds_text(8.5e-7) == "0.85 us");
    CHECK(seconds_text(0.0123) == "12.3 ms");
    CHECK(seconds_text(4.56) == "4.56 s");
    CHECK(compact_text(Shape{2, 5, 64}) == "(2,5,64)");
    CHECK(compact_text(Shape{}) == "()");
}

TEST_CASE("A table lines up its columns by characters, not bytes", "[inspect]") {
    TextTable table({{"name"}, {"count", TextTable::Align::right}, {"note"}});
    table.add({"a", "1"});
    table.add({"\u2423\u23CE", "12345", "wide"});
    CHECK(table.str() ==
          "name  count  note\n"
          "a         1\n"
          "\u2423\u23CE    12345  wide\n");
    CHECK(display_width("\u2423x") == 2);
    CHECK(pad_left("\u2423", 3) == "  \u2423");
    CHECK(pad_left("abcd", 3) == "abcd");
}
