#include "inspect/svg.hpp"

#include <cmath>
#include "support/catch.hpp"
#include "support/xml.hpp"

using namespace causeway;

TEST_CASE("The XML reader finds what is not well formed", "[inspect]") {
    CHECK(XmlReader::element_counts("<a x=\"1\"><b/><b>&amp;</b></a>").at("b") == 2);
    for (const char* wrong : {"<a>", "<a></b>", "<a x=1/>", "<a>&</a>", "<a x=\"<\"/>", "<a/><a/>",
                              "<a x=\"1\" x=\"2\"/>", "text", "<a x=\"1/>"}) {
        INFO(wrong);
        CHECK_THROWS(XmlReader::element_counts(wrong));
    }
}

TEST_CASE("A drawing is well formed whatever its texts contain", "[inspect]") {
    Svg svg(100, 50, "a < b & \"c\"");
    svg.rect(1, 2, 3, 4, "#ffffff", "1 < 2\n\x01 & \"so\"");
    svg.rect(1, 2, 3, 4, "none", "", "#000000");
    svg.line(0, 0, 10, 10, "#000000", true);
    svg.text(5, 5, "<&>", 10, "#000000", Svg::Anchor::middle, true);
    svg.vertical_text(5, 5, "\"&\"", 10, true);
    svg.heading(5, 5, "x<y");
    const auto counts = XmlReader::element_counts(svg.str());
    CHECK(counts.at("rect") == 3);  // with the background
    CHECK(counts.at("text") == 3);
    CHECK(counts.at("line") == 1);
    CHECK(counts.at("title") == 2);
}

TEST_CASE("Heat goes from white to dark and stays within", "[inspect]") {
    CHECK(heat_colour(0) == "#ffffff");
    CHECK(heat_colour(-1) == "#ffffff");
    CHECK(heat_colour(1) == "#081d58");
    CHECK(heat_colour(7) == "#081d58");
    CHECK(heat_colour(1.0 / 3) == "#9ecae1");
    CHECK(heat_colour(std::nan("")) == "#ff00ff");
    CHECK(palette_colour(0) == palette_colour(14));
    CHECK(palette_colour(0) != palette_colour(1));
}
