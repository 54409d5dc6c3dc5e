#include "io/step_lines.hpp"

#include <filesystem>
#include <string>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using causeway::cut_after;
using causeway::StepLines;

namespace {

const std::string one = "{\"step\":1,\"loss\":2.5}\n", two = "{\"step\":2,\"loss\":null}\n", three = "{\"step\":3}\n";

void check(const StepLines& found, std::int64_t last, std::int64_t missing) {
    CHECK(found.last == last);
    CHECK(found.missing == missing);
}

}  // namespace

TEST_CASE("a log of steps is cut after a step, and a torn last line goes") {
    const TemporaryFolder folder;
    const std::string path = folder.write("metrics.jsonl", one + two + three + "{\"step\":4,\"lo");
    check(cut_after(path, 4), 3, 1);
    CHECK(content_of(path) == one + two + three);
    check(cut_after(path, 3), 3, 0);
    CHECK(content_of(path) == one + two + three);
    check(cut_after(path, 2), 2, 0);
    CHECK(content_of(path) == one + two);
    check(cut_after(path, 0), 0, 0);
    CHECK(content_of(path).empty());
    check(cut_after(folder.file("missing"), 3), 0, 3);
    CHECK(!std::filesystem::exists(folder.file("missing")));
}

TEST_CASE("lines that are no object with a step stay where they stand between those that are") {
    const TemporaryFolder folder;
    const std::string others = "nonsense\n[1]\n{\"step\":\"2\"}\n{}\n\n";
    const std::string path = folder.write("log", one + others + two + others + three);
    check(cut_after(path, 2), 2, 0);
    CHECK(content_of(path) == one + others + two);
}

TEST_CASE("steps without a line are counted") {
    const TemporaryFolder folder;
    const std::string path = folder.write("metrics.jsonl", "{\"step\":1}\n{\"step\":4}\n{\"step\":9}\n");
    check(cut_after(path, 7), 4, 5);
    CHECK(content_of(path) == "{\"step\":1}\n{\"step\":4}\n");
}

TEST_CASE("where steps stand twice, the later lines are those that count") {
    const TemporaryFolder folder;
    const std::string again = one + two + three + two + three;
    const std::string path = folder.write("metrics.jsonl", again + "{\"step\":4}\n");
    check(cut_after(path, 3), 3, 0);
    CHECK(content_of(path) == again);
}
