#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/tokenizer/tokenizer.hpp"
#include "process.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "tokenizing.hpp"

using namespace causeway;

namespace {

const std::string gpt2 = std::string(CAUSEWAY_TESTS_DIR) + "/golden/tokenizers/gpt2.json";

std::vector<std::int32_t> encoded(const std::string& text) {
    std::vector<std::int32_t> ids;
    open_tokenizer(gpt2)->encode(text, ids);
    return ids;
}

/// A run of a model of `vocab_size` tokens whose tokenizer is GPT-2's golden one.
std::string run_with_tokenizer(const TemporaryFolder& folder, int vocab_size) {
    const std::string text = folder.write("text", std::string(2000, 'a')), run = folder.file("run");
    const std::string tokenizer = folder.write("tokenizer.json", content_of(gpt2));
    const Outcome trained = call({"train", byte_config(folder.file("config.json"), text), "--out", run, "--set",
                                  "train.max_steps=1", "--set", "model.vocab_size=" + std::to_string(vocab_size),
                                  "--set", "data.tokenizer=" + tokenizer, "--set", "train.checkpoint_every=1"});
    INFO(trained.err);
    REQUIRE(trained.code == 0);
    std::filesystem::remove(tokenizer);  // the run has its own copy
    return run;
}

}  // namespace

TEST_CASE("tokenize writes a file and says what is in it") {
    const TemporaryFolder folder;
    const std::string text = "In the beginning God created the heaven and the earth.\n", path = folder.write("t", text);
    const std::string out = folder.file("t.bin");
    const Outcome outcome =
        call({"tokenize", path, "--tokenizer", gpt2, "--out", out, "--separator", "<|endoftext|>", "--threads", "2"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    std::vector<std::int32_t> ids = encoded(text);
    ids.push_back(700);
    const std::string bytes = content_of(out);
    REQUIRE(bytes.size() == 2 * ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
        CHECK(static_cast<unsigned char>(bytes[2 * i]) + 256 * static_cast<unsigned char>(bytes[2 * i + 1]) == ids[i]);
    }
    CHECK_THAT(outcome.out, contains("t.bin: " + std::to_string(ids.size()) + " tokens of 1 documents, " +
                                     std::to_string(text.size()) + " bytes, "));
    CHECK_THAT(outcome.out, contains(" MB/s"));

    const Outcome piped = call({"tokenize", path, "--tokenizer", gpt2, "--out", "/dev/stdout"});
    CHECK(piped.out == bytes.substr(0, bytes.size() - 2));
    CHECK_THAT(piped.err, contains("wrote /dev/stdout"));
}

TEST_CASE("a shard of an earlier and longer series is told") {
    const TemporaryFolder folder;
    const std::string path = folder.write("t", "In the beginning God created the heaven and the earth.\n");
    const auto shards_of = [&](const char* tokens) {
        const Outcome outcome =
            call({"tokenize", path, "--tokenizer", gpt2, "--out", folder.file("x.bin"), "--shard-tokens", tokens});
        REQUIRE(outcome.code == 0);
        return outcome.out;
    };
    CHECK(shards_of("8").find("note") == std::string::npos);
    CHECK_THAT(shards_of("1000"), contains("note: " + folder.file("x_000001.bin") + " is there too, from an earlier"));
}

TEST_CASE("B45: tokenize takes no Git LFS pointer for text") {
    const TemporaryFolder folder;
    const std::string path = folder.write("t", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n");
    const Outcome outcome = call({"tokenize", path, "--tokenizer", gpt2, "--out", folder.file("x.bin")});
    CHECK(outcome.code == 1);
    CHECK(outcome.err ==
          "causeway tokenize: " + path + ": is a Git LFS pointer, not the file: fetch it with `git lfs pull`\n");
    CHECK(!std::filesystem::exists(folder.file("x.bin")));
}

TEST_CASE("tokenize names what it cannot use") {
    const TemporaryFolder folder;
    const std::string path = folder.write("t", "text"), empty = folder.write("e", ""), out = folder.file("o.bin");
    const auto fails = [&](std::vector<std::string> arguments, int code, const std::string& message) {
        arguments.insert(arguments.begin(), "tokenize");
        arguments.insert(arguments.end(), {"--out", out});
        const Outcome outcome = call(arguments);
        CHECK(outcome.code == code);
        CHECK_THAT(outcome.err, contains(message));
        CHECK(!std::filesystem::exists(out));
    };
    fails({path, "--tokenizer", folder.file("none")}, 1, "none: cannot open");
    fails({path, "--tokenizer", gpt2, "--separator", "<eos>"}, 1, "--separator: the tokenizer has no token \"<eos>\"");
    fails({path, "--tokenizer", gpt2, "--append-eos"}, 1, "names no eos_token; give it with --separator");
    fails({empty, "--tokenizer", gpt2}, 1, "there is no text");
    fails({path, "--tokenizer", gpt2, "--jsonl"}, 1, "t, line 1: is no JSON object");
    fails({path, "--tokenizer", gpt2, "--format", "arrow"}, 2, "--format");
    fails({path, "--tokenizer", gpt2, "--field", "x"}, 2, "--jsonl");
    fails({path}, 2, "--tokenizer is required");
}

TEST_CASE("a tokenizer is learned and shown") {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 50; ++i) text += "the earth and the sea\n";
    const std::string path = folder.write("t", text), out = folder.file("tokenizer.json");
    const Outcome trained =
        call({"tokenizer", "train", path, "--vocab-size", "266", "--special-token", "<|end|>", "--out", out});
    INFO(trained.err);
    REQUIRE(trained.code == 0);
    CHECK_THAT(trained.out, contains("266 tokens from 1100 bytes"));
    const Outcome shown = call({"tokenizer", "show", out, "--text", " the\n\xFF<|end|>"});
    REQUIRE(shown.code == 0);
    const std::vector<std::string> lines = lines_of(shown.out);
    REQUIRE(lines.size() == 5);
    CHECK_THAT(lines[0], contains("\" the\""));
    CHECK_THAT(lines[1], contains("\"\\n\""));
    CHECK_THAT(lines[2], contains("\"\\xFF\""));
    CHECK(lines[3] == "       0  \"<|end|>\"  special");
    CHECK(lines[4] == "4 tokens of a vocabulary of 266");
    CHECK_THAT(call({"tokenizer", "show", out, "--ids", "0"}).out, contains("<|end|>"));
    CHECK_THAT(call({"tokenizer", "show", out, "--ids", "266"}).err, contains("token 266 is outside [0, 266)"));
    CHECK_THAT(call({"tokenizer", "train", path, "--vocab-size", "100", "--out", out}).err,
               contains("vocab_size: found 100, expected 256"));
    CHECK(call({"tokenizer"}).code == 2);
}

TEST_CASE("generate and inspect read text by the run's tokenizer") {
    const TemporaryFolder folder;
    const std::string run = run_with_tokenizer(folder, 704), prompt = "In the beginning caf\u00e9";
    const Outcome outcome = call({"generate", run, "--prompt", prompt, "--max-new-tokens", "6", "--json"});
    INFO(outcome.err);
    REQUIRE(outcome.code == 0);
    const auto object = nlohmann::json::parse(outcome.out);
    CHECK(object.at("prompt") == prompt);
    CHECK(object.at("prompt_ids") == encoded(prompt));
    // tokens that only the model has are shown as U+FFFD
    const auto ids = object.at("ids").get<std::vector<std::int32_t>>();
    std::string text;
    for (const std::int32_t id : ids) {
        const std::vector<std::int32_t> one{id};
        if (id > 700) text += "\uFFFD";
        if (id <= 700) open_tokenizer(gpt2)->decode(one, text);
    }
    CHECK(object.at("text") ==
          nlohmann::json::parse(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));

    // the token that ends a text, by name: each first token is that one when no other may be chosen
    CHECK(call({"generate", run, "--prompt", "a", "--eos", "<|endoftext|>", "--max-new-tokens", "1"}).code == 0);
    CHECK_THAT(call({"generate", run, "--prompt", "a", "--eos", "<none>"}).err,
               contains("--eos: the tokenizer has no token"));
    const Outcome inspected = call({"inspect", run, "--text", "In the"});
    CHECK(inspected.code == 0);
    CHECK_THAT(inspected.out, contains("\u2423the |"));

    // one that cannot be read is in the way of text only
    folder.write("run/tokenizer.json", R"({"model": {"type": "Unigram"}})");
    const Outcome prompted = call({"generate", run, "--prompt", "a"}),
                  numbers = call({"generate", run, "--ids", "5,6"});
    CHECK(prompted.code == 1);
    CHECK_THAT(prompted.err, contains("tokenizer.json: model.type: the model \"Unigram\" is not supported"));
    CHECK(numbers.code == 0);
    CHECK_THAT(numbers.err, contains("warning: "));
    CHECK_THAT(numbers.err, contains("tokens are numbers"));
    CHECK(numbers.out.starts_with("5 6 "));
}

TEST_CASE("a checkpoint's texts end where its run's do") {
    const TemporaryFolder folder;
    const std::string run = run_with_tokenizer(folder, 704);
    const auto answer = [](const std::string& model) {
        const Outcome outcome =
            call({"generate", model, "--prompt", "a", "--temperature", "0", "--max-new-tokens", "8", "--json"});
        INFO(outcome.err);
        REQUIRE(outcome.code == 0);
        return nlohmann::json::parse(outcome.out);
    };
    const auto ids = answer(run).at("ids").get<std::vector<std::int32_t>>();
    const auto has_text = std::ranges::find_if(ids, [](std::int32_t id) { return id < 700; });
    REQUIRE(has_text != ids.end());
    const nlohmann::json tokenizer = nlohmann::json::parse(content_of(gpt2));
    for (const auto& [token, id] : tokenizer.at("model").at("vocab").items()) {
        if (id == *has_text) folder.write("run/tokenizer_config.json", nlohmann::json{{"eos_token", token}}.dump());
    }
    const auto ended = answer(run);
    CHECK(ended.at("finish_reason") == "eos");
    CHECK(ended.at("ids") == std::vector<std::int32_t>(ids.begin(), has_text + 1));
    for (const auto& checkpoint : std::filesystem::directory_iterator(run + "/checkpoints")) {
        const auto same = answer(checkpoint.path().string());
        CHECK(same.at("finish_reason") == "eos");
        CHECK(same.at("ids") == ended.at("ids"));
    }
}

TEST_CASE("a model with fewer tokens than its tokenizer is refused") {
    const TemporaryFolder folder;
    const std::string text = folder.write("text", std::string(2000, 'a')), run = folder.file("run");
    const std::string config = byte_config(folder.file("config.json"), text);
    const Outcome training = call({"train", config, "--out", run, "--set", "data.tokenizer=" + gpt2});
    CHECK(training.code == 1);
    CHECK_THAT(training.err, contains("model.vocab_size: found 256, expected at least 701, the number of tokens of "));
    REQUIRE(call({"train", config, "--out", run, "--set", "train.max_steps=1"}).code == 0);
    folder.write("run/tokenizer.json", content_of(gpt2));
    const Outcome outcome = call({"generate", run, "--prompt", "a"});
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, contains("tokenizer.json: has 701 tokens, the model's vocab_size is 256"));
}

TEST_CASE("B63: neither the text nor the tokenizer that is read is replaced, by any name") {
    const TemporaryFolder folder;
    const std::string words = "In the beginning God created the heaven and the earth.\n";
    const std::string text = folder.write("text", words), tokenizer = folder.write("tokenizer.json", content_of(gpt2));
    const std::string shard = folder.write("x_000001.bin", words), link = folder.file("link");
    std::filesystem::create_symlink(text, link);
    const auto refused = [&](const std::vector<std::string>& arguments) {
        const Outcome outcome = call(arguments);
        CHECK(outcome.code == 1);
        CHECK_THAT(outcome.err, contains(" and would be replaced; choose another file to write"));
    };
    for (const std::string& out : {text, link, tokenizer}) {
        refused({"tokenize", text, "--tokenizer", tokenizer, "--out", out});
    }
    refused({"tokenize", text, "--tokenizer", folder.file(""), "--out", tokenizer});
    refused({"tokenize", shard, "--tokenizer", tokenizer, "--out", folder.file("x.bin"), "--shard-tokens", "4"});
    refused({"tokenizer", "train", text, "--vocab-size", "300", "--out", link});
    CHECK(content_of(text) == words);
    CHECK(content_of(shard) == words);
    CHECK((content_of(tokenizer) == content_of(gpt2)));
}

TEST_CASE("tokens are quoted on one line") {
    CHECK(cli::quoted_bytes("a\n\t\r\"\\") == "\"a\\n\\t\\r\\\"\\\\\"");
    CHECK(cli::quoted_bytes("\u00e9\xC3\x01\x7F") == "\"\u00e9\\xC3\\x01\\x7F\"");
    CHECK(cli::quoted_bytes("\u0085") == "\"\\xC2\\x85\"");
}
