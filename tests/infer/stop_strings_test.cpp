#include "infer/stop_strings.hpp"

#include "causeway/error.hpp"
#include "support/catch.hpp"

using namespace causeway;
using namespace causeway::infer;

TEST_CASE("Text ends before the first stop string, wherever the pieces are cut") {
    const std::string text = "one two, three";
    for (std::size_t size = 1; size <= text.size(); ++size) {
        StopStrings stops({"two, t", "xyz"});
        std::string shown;
        for (std::size_t i = 0; i < text.size() && !stops.stopped(); i += size)
            shown += stops.add(text.substr(i, size));
        CHECK(stops.stopped());
        CHECK(shown + stops.finish() == "one ");
        CHECK(stops.add("more") == "");
    }
}

TEST_CASE("What could begin a stop string is held back, and shown when it does not go on") {
    StopStrings stops({"aab"});
    CHECK(stops.add("xa") == "x");
    CHECK(stops.add("a") == "");
    CHECK(stops.add("a") == "a");  // aa may still become aab
    CHECK(stops.add("c") == "aac");
    CHECK(stops.add("aa") == "");
    CHECK(!stops.stopped());
    CHECK(stops.finish() == "aa");
}

TEST_CASE("The earliest of several stop strings counts") {
    StopStrings stops({"cd", "b", "zz"});
    CHECK(stops.add("abcd") == "a");
    CHECK(stops.stopped());
    StopStrings none({});
    CHECK(none.add("abc") == "abc");
    CHECK(none.finish() == "");
    CHECK_THROWS_MESSAGE(StopStrings({"a", ""}), ConfigError, "stop: found an empty string");
}
