#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "io/npy.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace {

/// An untrained model of bytes, 2 layers with 2 heads, made once.
const std::string& byte_run() {
    static const TemporaryFolder folder;
    static const std::string run = [] {
        const std::string text = folder.write("text.txt", std::string(500, 'x'));
        const std::string config = byte_config(folder.file("config.json"), text);
        const Outcome trained =
            call({"train", config, "--out", folder.file("run"), "--quiet", "--set", "train.max_steps=1"});
        REQUIRE(trained.code == 0);
        return folder.file("run");
    }();
    return run;
}

Outcome inspect(std::vector<std::string> more) {
    more.insert(more.begin(), {"inspect", byte_run()});
    return call(std::move(more));
}

}  // namespace

TEST_CASE("S1-14..16: the heatmap of any head, a line a query") {
    const Outcome outcome = inspect({"--text", "a b\nc", "--layer", "1", "--head", "1"});
    CHECK(outcome.code == 0);
    CHECK(outcome.err == "");
    const std::vector<std::string> lines = lines_of(outcome.out);
    REQUIRE(lines.size() == 6);
    CHECK(lines[0] == "layer 1 of 2, head 1 of 2");
    CHECK_THAT(lines[1], contains("a ") && contains("@"));  // the first query sees itself alone
    CHECK_THAT(lines[2], contains("\u2423"));
    CHECK(outcome.out.find('\x1b') == std::string::npos);
}

TEST_CASE("Metrics, npy and svg") {
    const TemporaryFolder folder;
    const Outcome outcome =
        inspect({"--text", "hello", "--metrics", "--npy", folder.file("w.npy"), "--svg", folder.file("w.svg")});
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, contains("entropy"));
    CHECK_THAT(outcome.out, contains("wrote " + folder.file("w.svg")));
    const causeway::NpyFile npy(folder.file("w.npy"));
    CHECK(npy.desc().shape == causeway::Shape{2, 2, 5, 5});
    CHECK_THAT(content_of(folder.file("w.svg")), contains("<svg"));
    const auto metrics = nlohmann::json::parse(inspect({"--text", "hello", "--json"}).out);
    CHECK(metrics.size() == 4);
    const Outcome one = inspect({"--text", "hello", "--head", "1", "--svg", folder.file("one.svg")});
    CHECK(one.code == 0);
    CHECK_THAT(content_of(folder.file("one.svg")), contains("layer 0, head 1"));
}

TEST_CASE("A mask hides what it says") {
    const TemporaryFolder folder;
    std::vector<std::uint8_t> mask(9, 1);
    mask[3] = 0;  // the second token does not see the first
    causeway::write_npy(folder.file("mask.npy"), {causeway::DType::u8, {3, 3}}, mask.data());
    const Outcome masked = inspect({"--text", "abc", "--mask", folder.file("mask.npy"), "--npy", folder.file("w.npy")});
    CHECK(masked.err == "");
    CHECK(masked.code == 0);
    std::vector<float> weights(2 * 2 * 9);
    causeway::NpyFile(folder.file("w.npy")).read(std::span(weights));
    for (std::size_t head = 0; head < 4; ++head) CHECK(weights[head * 9 + 3] == 0);
    const Outcome small = inspect({"--text", "abcd", "--mask", folder.file("mask.npy")});
    CHECK(small.code == 1);
    CHECK_THAT(small.err, contains("mask must be u8 (4,4)") && contains("found u8 (3, 3)"));
}

TEST_CASE("A model whose tokens see what follows can be inspected and not generate") {
    const Outcome inspected = inspect({"--text", "abc", "--metrics", "--set", "model.causal=false"});
    CHECK(inspected.code == 0);
    const Outcome generated = call({"generate", byte_run(), "--prompt", "a", "--set", "model.causal=false"});
    CHECK(generated.code == 1);
    CHECK_THAT(generated.err, contains("model.causal: found false, expected true"));
}

TEST_CASE("B70: what cannot be inspected is one line on standard error, and no file is written") {
    const TemporaryFolder folder;
    const std::string svg = folder.file("w.svg");
    const auto error = [&](std::vector<std::string> more) {
        more.insert(more.end(), {"--svg", svg});
        const Outcome outcome = inspect(std::move(more));
        CHECK(outcome.code == 1);
        CHECK(outcome.out == "");
        CHECK(lines_of(outcome.err).size() == 1);
        CHECK(content_of(svg) == "");
        return outcome.err;
    };
    CHECK(error({"--text", ""}) == "causeway inspect: the text is empty, expected at least one token\n");
    CHECK_THAT(error({"--text", "a", "--layer", "2"}), contains("causeway inspect: layer 2 does not exist"));
    CHECK_THAT(error({"--text", "a", "--head", "-1"}), contains("causeway inspect: head -1 does not exist"));
    CHECK_THAT(error({"--text", std::string(17, 'a')}), contains("17 tokens were given; the model takes 1 to 16"));
    CHECK_THAT(error({"--ids", "1,999"}), contains("token 999 at position 1 is outside [0, 256)"));
}
