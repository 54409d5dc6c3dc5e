#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace {

/// A model of bytes trained a little on "abcabcabc...", made once.
const std::string& byte_run() {
    static const TemporaryFolder folder;
    static const std::string run = [] {
        std::string text;
        for (int i = 0; i < 400; ++i) text += "abc";
        const std::string config = byte_config(folder.file("config.json"), folder.write("text.txt", text));
        const Outcome trained = call({"train", config, "--out", folder.file("run"), "--quiet"});
        REQUIRE(trained.code == 0);
        return folder.file("run");
    }();
    return run;
}

Outcome generate(std::vector<std::string> more) {
    more.insert(more.begin(), {"generate", byte_run()});
    return call(std::move(more));
}

}  // namespace

TEST_CASE("B41: greedy generation continues what was learned, past the context") {
    const Outcome outcome = generate({"--prompt", "abcab", "--temperature", "0", "--max-new-tokens", "40"});
    CHECK(outcome.err == "");
    CHECK(outcome.code == 0);
    CHECK(outcome.out == "abcabcabcabcabcabcabcabcabcabcabcabcabcabcabc\n");
    CHECK(generate({"--prompt", "abcab", "--temperature", "0", "--max-new-tokens", "40", "--top-k", "0"}).out ==
          outcome.out);
    CHECK(generate({"--prompt", "abcab", "--temperature", "1e-8", "--max-new-tokens", "40"}).out == outcome.out);
    CHECK(generate({"--prompt", "abcab", "--top-k", "1", "--max-new-tokens", "40"}).out == outcome.out);
    CHECK(generate({"--prompt", "abcab", "--top-p", "0", "--max-new-tokens", "40"}).out == outcome.out);
}

TEST_CASE("A seed decides the text, and no new tokens are none") {
    const auto sample = [](const std::string& seed) {
        return generate({"--prompt", "a", "--temperature", "5", "--seed", seed, "--max-new-tokens", "30"}).out;
    };
    CHECK(sample("1") == sample("1"));
    CHECK(sample("1") != sample("2"));
    CHECK(generate({"--prompt", "abc", "--max-new-tokens", "0"}).out == "abc\n");
}

TEST_CASE("JSON has the exact tokens") {
    const Outcome outcome =
        generate({"--prompt", "ab\xC3\xA9", "--max-new-tokens", "6", "--temperature", "0", "--json"});
    CHECK(outcome.code == 0);
    const auto object = nlohmann::json::parse(outcome.out);
    CHECK(object.at("prompt") == "ab\u00e9");
    CHECK(object.at("prompt_tokens") == nlohmann::json({97, 98, 0xC3, 0xA9}));
    CHECK(object.at("tokens").size() == 6);
    CHECK(object.at("temperature") == 0);
    CHECK(object.at("seed") == 42);
    const Outcome wild = generate({"--prompt", "a", "--max-new-tokens", "60", "--temperature", "100", "--json"});
    CHECK(nlohmann::json::parse(wild.out).at("tokens").size() == 60);
}

TEST_CASE("On a terminal no control character of a model comes through") {
    const std::vector<std::string> arguments{"generate",      byte_run(), "--prompt",         "a",
                                             "--temperature", "1000",     "--max-new-tokens", "300"};
    const Outcome raw = call(arguments);
    CHECK(raw.out.size() == 302);  // a byte a token and the newline
    if (!terminals_exist()) return;
    const Outcome shown = run_causeway({arguments, Stdout::terminal, {}, {}});
    CHECK(shown.code == 0);
    for (const char c : shown.out) {
        const auto byte = static_cast<unsigned char>(c);
        CHECK((byte >= 0x20 || c == '\n' || c == '\t' || c == '\r'));  // the terminal adds \r to \n
    }
}

TEST_CASE("B41, B58, B70: what cannot be generated from is one line on standard error") {
    const auto error = [](std::vector<std::string> more) {
        const Outcome outcome = generate(std::move(more));
        CHECK(outcome.code == 1);
        CHECK(outcome.out == "");
        CHECK(lines_of(outcome.err).size() == 1);
        return outcome.err;
    };
    CHECK(error({"--prompt", ""}) == "causeway generate: the prompt is empty, expected at least one token\n");
    CHECK(error({"--ids", "3,256"}) ==
          "causeway generate: prompt: token 256 at position 1 is outside [0, 256), the range of vocab_size 256\n");
    CHECK_THAT(error({"--ids", "a"}), contains("expected token ids such as 5,17,3"));
    CHECK(error({"--prompt", "a", "--temperature", "-1"}) ==
          "causeway generate: temperature: found -1, expected a finite number of at least 0 (0 takes the most likely "
          "token)\n");
    CHECK_THAT(error({"--prompt", "a", "--temperature", "nan"}), contains("temperature: found nan"));
    CHECK_THAT(error({"--prompt", "a", "--top-p", "1.5"}), contains("top_p: found 1.5"));
    const TemporaryFolder folder;
    const Outcome nowhere = call({"generate", folder.file("none"), "--prompt", "a"});
    CHECK(nowhere.code == 1);
    CHECK_THAT(nowhere.err, contains("causeway generate: " + folder.file("none")));
    CHECK(generate({"--prompt", "a", "--ids", "1"}).code == 2);
}

TEST_CASE("Tasks are prompted with numbers") {
    const TemporaryFolder folder;
    REQUIRE(call(tiny_training(folder.file("run"), {"--quiet"})).code == 0);
    const Outcome outcome =
        call({"generate", folder.file("run"), "--ids", "5,5,5", "--max-new-tokens", "2", "--temperature", "0"});
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, contains("5 5 5 "));
    CHECK_THAT(call({"generate", folder.file("run"), "--prompt", "A"}).err,
               contains("--prompt: this model was not trained on the bytes of a text"));
    CHECK_THAT(call({"generate", folder.file("run"), "--ids", "65"}).err,
               contains("prompt: token 65 at position 0 is outside [0, 64)"));
}
