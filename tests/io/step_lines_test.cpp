#include "io/step_lines.hpp"

#include <string>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using causeway::cut_lines_after;

TEST_CASE("a log of steps is cut after a step, and a torn last line goes") {
    const TemporaryFolder folder;
    const std::string one = "{\"step\":1,\"loss\":2.5}\n", two = "{\"loss\":null,\"step\":2}\n",
                      three = "{\"step\":3}\n";
    const std::string path = folder.write("metrics.jsonl", one + two + three + "{\"step\":4,\"lo");
    CHECK(cut_lines_after(path, 5) == 1);
    CHECK(content_of(path) == one + two + three);
    CHECK(cut_lines_after(path, 3) == 0);
    CHECK(content_of(path) == one + two + three);
    CHECK(cut_lines_after(path, 2) == 1);
    CHECK(content_of(path) == one + two);
    CHECK(cut_lines_after(path, 0) == 2);
    CHECK(content_of(path).empty());
    CHECK(cut_lines_after(folder.file("missing"), 3) == 0);
}

TEST_CASE("lines that are no object with a step are no record of one") {
    const TemporaryFolder folder;
    const std::string path = folder.write("log", "{\"step\":1}\nnonsense\n[1]\n{\"step\":\"2\"}\n{}\n\n{\"step\":2}\n");
    CHECK(cut_lines_after(path, 2) == 5);
    CHECK(content_of(path) == "{\"step\":1}\n{\"step\":2}\n");
}
