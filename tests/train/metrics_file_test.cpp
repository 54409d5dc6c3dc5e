#include "train/metrics_file.hpp"

#include <filesystem>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway::train;

namespace {

const std::string three = "{\"step\":1,\"loss\":3}\n{\"step\":2,\"loss\":2}\n{\"step\":3,\"loss\":1}\n";

}  // namespace

TEST_CASE("metrics end with the step that a run goes on from") {
    const TemporaryFolder folder;
    const auto cut = [&](const std::string& content, std::int64_t step, const std::string& line) {
        const std::string path = folder.write("metrics.jsonl", content);
        const std::string missing = cut_metrics(path, step, line);
        return missing + content_of(path);
    };
    CHECK(cut(three, 2, "{\"step\":2,\"loss\":2}") == three.substr(0, 40));
    CHECK(cut(three, 3, "{\"step\":3,\"loss\":1}") == three);
    // A line that was cut short, or never written, is there again.
    CHECK(cut(three.substr(0, 45), 3, "{\"step\":3,\"loss\":1}") == three);
    CHECK(cut(three.substr(0, 40), 3, "{\"step\":3,\"loss\":1}") == three);
    CHECK(cut(three, 0, "") == "");
    CHECK(cut(three + "{\"step\":4", 1, "{\"step\":1,\"loss\":3}") == three.substr(0, 20));
    // A line that is none of ours stays where it stands.
    CHECK(cut("{\"note\":1}\n" + three, 2, "{\"step\":2}") ==
          "{\"note\":1}\n" + three.substr(0, 20) + "{\"step\":2}\n");
}

TEST_CASE("steps without a line are said") {
    const TemporaryFolder folder;
    const std::string path = folder.write("metrics.jsonl", "{\"step\":1}\n{\"step\":4}\n");
    CHECK(cut_metrics(path, 7, "{\"step\":7}") == path + ": has no lines for 4 of the 6 steps before 7");
    CHECK(content_of(path) == "{\"step\":1}\n{\"step\":4}\n{\"step\":7}\n");
    const std::string none = folder.file("none.jsonl");
    CHECK(cut_metrics(none, 2, "{\"step\":2}") == none + ": has no lines for 1 of the 1 steps before 2");
    CHECK(cut_metrics(folder.file("new.jsonl"), 0, "").empty());
    CHECK(std::filesystem::exists(folder.file("new.jsonl")));
}
