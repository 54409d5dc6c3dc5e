#include <csignal>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/process.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace {

/// A model of bytes with a context of 16 that learned "abcabcabc...". Made once, from a file of 1200 such bytes, by
///   causeway train CONFIG --out tests/cli/abc_model
/// where CONFIG is what byte_config writes. Training it anew in each test case would take most of their time.
std::string byte_run() { return std::string(CAUSEWAY_TESTS_DIR) + "/cli/abc_model"; }

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
    CHECK(object.at("prompt_ids") == nlohmann::json({97, 98, 0xC3, 0xA9}));
    CHECK(object.at("ids").size() == 6);
    CHECK(object.at("finish_reason") == "length");
    CHECK(object.at("tokens_per_second") > 0);
    CHECK(object.at("temperature") == 0);
    CHECK(object.at("seed") == 42);
    const Outcome wild = generate({"--prompt", "a", "--max-new-tokens", "60", "--temperature", "100", "--json"});
    CHECK(nlohmann::json::parse(wild.out).at("ids").size() == 60);
}

TEST_CASE("B29, B42: cache, chunks and batches give the same text") {
    const auto greedy = [](std::vector<std::string> more) {
        more.insert(more.end(), {"--temperature", "0", "--max-new-tokens", "24"});
        const Outcome outcome = generate(std::move(more));
        CHECK(outcome.code == 0);
        return outcome.out;
    };
    const std::string first = greedy({"--prompt", "cab"}), second = greedy({"--prompt", "abcabca"});
    CHECK(greedy({"--prompt", "cab", "--no-cache"}) == first);
    for (const char* chunk : {"1", "2", "7"}) CHECK(greedy({"--prompt", "abcabca", "--chunk", chunk}) == second);
    CHECK(greedy({"--ids", "99,97,98"}) == first);

    const TemporaryFolder folder;
    const std::string lines = folder.write("prompts.txt", "cab\r\n\nabcabca\ncab\n");
    for (const char* size : {"1", "2", "8"}) {
        CHECK(greedy({"--batch", lines, "--batch-size", size}) == first + second + first);
    }
    const std::string objects = folder.write("prompts.jsonl", "{\"prompt\": \"cab\"}\n{\"ids\": [97, 98, 99]}\n");
    const std::vector<std::string> answers = lines_of(greedy({"--batch", objects, "--json"}));
    REQUIRE(answers.size() == 2);
    CHECK("cab" + nlohmann::json::parse(answers[0]).at("text").get<std::string>() + "\n" == first);
    CHECK(nlohmann::json::parse(answers[1]).at("prompt") == "abc");
}

TEST_CASE("Stop strings and eos ids end the text before them") {
    const auto text = [](std::vector<std::string> more) {
        more.insert(more.end(), {"--prompt", "ab", "--temperature", "0", "--max-new-tokens", "9", "--json"});
        return nlohmann::json::parse(generate(std::move(more)).out);
    };
    CHECK(text({}).at("text") == "cabcabcab");
    const auto stopped = text({"--stop", "zz", "--stop", "bca"});
    CHECK(stopped.at("text") == "ca");
    CHECK(stopped.at("finish_reason") == "stop");
    CHECK(stopped.at("ids") == nlohmann::json({'c', 'a', 'b', 'c', 'a'}));
    const auto ended = text({"--eos", "120,98"});
    CHECK(ended.at("text") == "ca");
    CHECK(ended.at("finish_reason") == "eos");
    CHECK(ended.at("ids") == nlohmann::json({'c', 'a', 'b'}));
    CHECK(generate({"--prompt", "ab", "--temperature", "0", "--stop", "bca"}).out == "abca\n");
}

TEST_CASE("Statistics go to standard error, and a reader that goes away ends the command") {
    const Outcome outcome = generate({"--prompt", "ab", "--temperature", "0", "--max-new-tokens", "4", "--stats"});
    CHECK(outcome.out == "abcabc\n");
    CHECK_THAT(outcome.err, contains("causeway generate: read 2 tokens in ") && contains("generated 3 more in "));
    const Outcome gone = run_causeway({{"generate", byte_run(), "--prompt", "ab"}, Stdout::closed, {}, {}});
    CHECK(gone.signal == 0);
    CHECK(gone.code == 1);
    CHECK_THAT(gone.err, contains("cannot write to standard output"));
}

TEST_CASE("Ctrl-C ends the text after a token, with exit code 130") {
    bool sent = false;
    const Outcome outcome = run_causeway({{"generate", byte_run(), "--prompt", "ab", "--max-new-tokens", "1000000000"},
                                          Stdout::pipe,
                                          {},
                                          [&](pid_t process, const std::string& out) {
                                              if (out.size() > 10 && !std::exchange(sent, true)) kill(process, SIGINT);
                                          }});
    CHECK(outcome.code == 130);
    CHECK(outcome.signal == 0);
    CHECK(outcome.err == "");
    CHECK(outcome.out.ends_with("\n"));
}

TEST_CASE("generation_config.json gives the defaults, options win over it") {
    const TemporaryFolder folder;
    for (const char* name : {"config.json", "model.safetensors"}) {
        folder.write(name, content_of(byte_run() + "/" + name));
    }
    folder.write("generation_config.json", R"({"max_new_tokens": 5, "eos_token_id": 99})");
    const std::string run = folder.file("");
    CHECK(call({"generate", run, "--prompt", "ca"}).out == "cab\n");  // greedy, up to c
    CHECK(call({"generate", run, "--prompt", "ca", "--eos", "0"}).out == "cabcabc\n");
    folder.write("generation_config.json", R"({"num_beams": 2})");
    CHECK_THAT(call({"generate", run, "--prompt", "ca"}).err, contains("num_beams: found 2, expected 1"));
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
    CHECK(generate({"--prompt", "a", "--batch", "x"}).code == 2);
    CHECK_THAT(generate({}).err, contains("--prompt or --ids or --batch is required"));
    CHECK_THAT(error({"--prompt", "a", "--min-p", "-1"}), contains("min_p: found -1"));
    CHECK_THAT(error({"--prompt", "a", "--repetition-penalty", "0"}), contains("repetition_penalty: found 0"));
    CHECK_THAT(error({"--prompt", "a", "--stop", ""}), contains("stop: found an empty string"));
    CHECK_THAT(error({"--batch", folder.file("none.txt")}), contains("none.txt: cannot be opened"));
    CHECK_THAT(error({"--batch", folder.write("empty.txt", "\n")}), contains("empty.txt: has no prompts"));
    CHECK_THAT(error({"--batch", folder.write("bad.jsonl", "{\"prompt\": \"a\"}\n{\"promt\": 1}\n")}),
               contains("bad.jsonl, line 2: found"));
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
