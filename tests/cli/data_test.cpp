#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/format.hpp"
#include "cli/process.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

namespace {

using nlohmann::json;

const std::string chat_tokenizer = CAUSEWAY_TESTS_DIR "/golden/tokenizers/minimind.json";

/// A config that trains on chats with a small tokenizer; the path of the file.
std::string chat_config(const TemporaryFolder& folder) {
    std::string lines;
    for (int i = 0; i < 20; ++i) {
        lines += fmt::format(
            R"({{"conversations": [{{"role": "system", "content": "Be brief."}}, {{"role": "user", "content": "What is {}?"}}, )"
            R"({{"role": "assistant", "content": "A number, {}."}}]}})"
            "\n",
            i, i);
    }
    return folder.write("chat.json", R"({"model": {"vocab_size": 800, "hidden_size": 16, "num_hidden_layers": 1,
        "num_attention_heads": 2, "max_position_embeddings": 64}, "train": {"batch_size": 4, "max_steps": 3},
        "data": {"source": "chat", "chat_format": "qwen", "packing": false, "sampling": "epoch", "tokenizer": ")" +
                                         chat_tokenizer + R"(", "path": ")" + folder.write("chat.jsonl", lines) +
                                         "\"}}");
}

/// The value behind a word at the start of a line.
double value_in(const std::string& out, const std::string& name) {
    for (const std::string& line : lines_of(out)) {
        if (line.starts_with(name + " ")) return std::stod(line.substr(name.size() + 1));
    }
    return NAN;
}

}  // namespace

TEST_CASE("data shows what a config trains on and which tokens carry loss") {
    const TemporaryFolder folder;
    const std::string config = chat_config(folder);
    const Outcome shown = call({"data", config, "--rows", "1"});
    CHECK(shown.err == "");
    REQUIRE(shown.code == 0);
    CHECK_THAT(shown.out, contains("chat.jsonl, 18 documents of ") && contains("2 documents of ") &&
                              contains("batches     4 x 64 tokens\ntraining    18 rows, 5 batches an epoch\n"
                                       "validation  2 rows, 1 batches an epoch\n") &&
                              contains("row 0: "));
    CHECK_THAT(shown.out, contains("    <|im_start|>system\\n\n    Be brief.<|im_end|>\\n\n    <|im_start|>user\\n\n"));
    CHECK_THAT(shown.out, contains("    <|im_start|>assistant\\n\n    {+A number, ") && contains("<|im_end|>+}\\n\n"));
    CHECK(shown.out.find('\x1b') == std::string::npos);

    const Outcome dumped = call({"data", config, "--json", "--validation", "--first", "1"});
    const json object = json::parse(dumped.out);
    CHECK(object.at("part") == "validation");
    REQUIRE(object.at("rows").size() == 1);
    CHECK(object.at("rows")[0].at("loss_text") == "A number, 19.<|im_end|>");
    CHECK_THAT(call({"data", config, "--ids", "--set", "data.chat_format=minimind"}).out, contains(" {+"));

    const Outcome task = call({"data", config_path("repeat_h4.json"), "--rows", "1"});
    CHECK_THAT(task.out, contains("built-in task repeat") && contains("training    drawn without end\n"));
    CHECK(call({"data", config, "--rows", "-1"}).code == 2);
    CHECK_THAT(call({"data", config, "--set", "data.path=no.jsonl"}).err,
               contains("causeway data: no.jsonl: no such file (data.path"));
}

TEST_CASE("colour marks loss on a terminal") {
    if (!terminals_exist()) return;
    const TemporaryFolder folder;
    const Outcome shown = run_causeway({{"data", chat_config(folder)}, Stdout::terminal, {"TERM=xterm"}, {}});
    CHECK_THAT(shown.out, contains("\x1b[32mA number, "));
    CHECK(shown.out.find("{+") == std::string::npos);
}

TEST_CASE("B58: data that cannot be read are one line and exit code 1") {
    const TemporaryFolder folder;
    const std::string config = byte_config(folder.file("c.json"), "");
    const auto error = [&](const std::string& name, const std::string& content, std::vector<std::string> more) {
        const std::string path = folder.write(name, content);
        std::vector<std::string> arguments{"train", config, "--out", folder.file("run"), "--set", "data.path=" + path};
        for (const std::string& set : more) arguments.insert(arguments.end(), {"--set", set});
        const Outcome outcome = call(arguments);
        CHECK(outcome.code == 1);
        CHECK(lines_of(outcome.err).size() == 1);
        return outcome.err;
    };
    CHECK_THAT(
        error("odd.bin", std::string(401, 'x'), {"data.source=tokens"}),
        contains("odd.bin: has 401 bytes, which is no whole number of uint16 tokens: 1 left over at offset 400"));
    CHECK_THAT(error("large.bin", std::string(400, '\x01'), {"data.source=tokens"}),
               contains("large.bin: token 257 at position ") && contains("is outside [0, 256)"));
    CHECK_THAT(error("empty.bin", "", {"data.source=tokens"}), contains("empty.bin: is empty"));
    CHECK_THAT(error("a.jsonl", "{\"text\": \"a\"}\n{\"txt\": \"b\"}\n", {"data.source=jsonl"}),
               contains("a.jsonl:2: the line has no \"text\""));
    CHECK_THAT(error("b.txt", "text", {"data.packing=false"}), contains("data.packing: found false, expected true"));
    CHECK_THAT(error("c.txt", "text", {"data.tokenizer=" + chat_tokenizer}),
               contains("model.vocab_size: found 256, expected at least 70"));
}

TEST_CASE("train learns from chats, token files and mixtures, and eval judges what it learned") {
    const TemporaryFolder folder;
    const Outcome chat = call({"train", chat_config(folder), "--out", folder.file("chat")});
    CHECK(chat.err == "");
    REQUIRE(chat.code == 0);
    CHECK_THAT(chat.out, contains("chat.jsonl, 18 documents"));

    std::string text;
    for (int i = 0; i < 300; ++i) text += "in the beginning was the word\n";
    const std::string config = byte_config(folder.file("c.json"), "");
    const std::string mixture = fmt::format(R"(data.mixture=[{{"path": "{}"}}, {{"path": "{}", "weight": 3}}])",
                                            folder.write("a.txt", text), folder.write("b.txt", text));
    REQUIRE(
        call({"train", config, "--out", folder.file("run"), "--set", mixture, "--set", "train.max_steps=60"}).code ==
        0);

    const Outcome own = call({"eval", folder.file("run")});
    CHECK(own.err == "");
    REQUIRE(own.code == 0);
    const double loss = value_in(own.out, "loss");
    CHECK(loss < 3.0);
    CHECK(value_in(own.out, "perplexity") == Approx(std::exp(loss)).epsilon(1e-4));
    CHECK(value_in(own.out, "bits_per_byte") == Approx(loss / std::log(2.0)).epsilon(1e-4));
    CHECK(value_in(own.out, "targets") == value_in(own.out, "bytes"));
    // The record of the run has the same.
    const std::string last = lines_of(content_of(folder.file("run/metrics.jsonl"))).back();
    CHECK(json::parse(last).at("val_loss").get<double>() == Approx(loss).epsilon(1e-8));

    const std::string other = folder.write("other.txt", text.substr(0, 800));
    const json judged = json::parse(call({"eval", folder.file("run"), "--data", other, "--json"}).out);
    CHECK(judged.at("targets") == 49 * 16);  // windows at 0, 16, ... below 800 - 16 - 1
    CHECK(judged.at("loss").get<double>() < 3.0);
    CHECK(judged.at("accuracy").is_null());
    const json strided = json::parse(
        call({"eval", folder.file("run"), "--data", other, "--json", "--stride", "4", "--batch-size", "7"}).out);
    CHECK(strided.at("targets") == 196 * 16);
    const json shorter =
        json::parse(call({"eval", folder.file("run"), "--data", other, "--json", "--sequence-length", "8"}).out);
    CHECK(shorter.at("targets") == 99 * 8);
    std::string tokens;
    for (const char c : text.substr(0, 800)) tokens += std::string(1, c) + '\0';
    const json from_file =
        json::parse(call({"eval", folder.file("run"), "--data", folder.write("t.bin", tokens), "--json"}).out);
    CHECK(from_file.at("loss") == judged.at("loss"));
    CHECK(from_file.at("bytes").is_null());
}

TEST_CASE("B06: validation data in which no target counts have no loss and make no checkpoint the best") {
    const TemporaryFolder folder;
    const std::string silent = folder.write("silent.jsonl", R"({"messages": [{"role": "user", "content": "q"}]})"
                                                            "\n");
    const Outcome trained =
        call({"train", chat_config(folder), "--out", folder.file("run"), "--set", "data.validation_path=" + silent,
              "--set", "train.eval_every=1", "--set", "train.checkpoint_every=1", "--set", "train.keep_checkpoints=2"});
    CHECK(trained.err == "");
    REQUIRE(trained.code == 0);
    CHECK_THAT(trained.out, contains("val loss n/a: no target counts") && !contains("val loss 0"));
    for (const std::string& line : lines_of(content_of(folder.file("run/metrics.jsonl")))) {
        CHECK_FALSE(json::parse(line).contains("val_loss"));
    }
    const json state = json::parse(content_of(folder.file("run/checkpoints/step_00000003/state.json")));
    CHECK(state.at("val_loss").is_null());
    CHECK(state.at("best").is_null());
    CHECK_FALSE(std::filesystem::exists(folder.file("run/checkpoints/step_00000001")));
    CHECK_THAT(call({"eval", folder.file("run")}).out, contains("loss n/a: no target counts"));
}

TEST_CASE("eval of a task has its accuracy, what cannot be evaluated is refused") {
    const TemporaryFolder folder;
    REQUIRE(call(tiny_training(folder.file("task"))).code == 0);
    const Outcome task = call({"eval", folder.file("task")});
    CHECK_THAT(task.out, contains("data built-in task repeat") && contains("\naccuracy 0."));
    CHECK_THAT(task.out, !contains("bits_per_byte"));
    CHECK_THAT(call({"eval", folder.file("task"), "--source", "lookback_copy"}).out, contains("task lookback_copy"));
    const auto error = [](std::vector<std::string> arguments, int code) {
        const Outcome outcome = call(std::move(arguments));
        CHECK(outcome.code == code);
        CHECK(lines_of(outcome.err).size() == 1);
        return outcome.err;
    };
    const std::string hf = CAUSEWAY_TESTS_DIR "/golden/hf_gpt2";
    CHECK_THAT(error({"eval", hf}, 1), contains("says nothing of the data it was validated on; give some with --data"));
    const std::string text = folder.write("a.txt", std::string(100, 'a'));
    CHECK_THAT(error({"eval", hf, "--data", text}, 1),
               contains("this model was not trained on bytes and has no tokenizer.json beside it"));
    CHECK_THAT(error({"eval", hf, "--source", "text"}, 1),
               contains("--source text: reads files; say which with --data"));
    CHECK_THAT(error({"eval", hf, "--source", "repeat", "--data", text}, 1), contains("makes its rows itself"));
    CHECK_THAT(error({"eval", hf, "--source", "txt"}, 1), contains("data.source: found the string \"txt\""));
    CHECK_THAT(error({"eval", hf, "--data", text, "--ids", "x.npy"}, 2), contains("--data excludes --ids"));
    CHECK_THAT(error({"eval", hf, "--logits", "x.npy"}, 2), contains("--logits requires --ids"));
    CHECK_THAT(error({"eval", hf, "--data", "no.bin"}, 1), contains("no.bin: no such file (data.validation_path"));
}

TEST_CASE("B70: a run does not replace what it reads") {
    const TemporaryFolder folder;
    const std::string text = folder.write("run/metrics.jsonl", std::string(100, 'a'));
    const std::string config = byte_config(folder.file("c.json"), text);
    const Outcome outcome = call({"train", config, "--out", folder.file("run"), "--overwrite"});
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, contains("metrics.jsonl: is read as data and would be replaced"));
    CHECK(content_of(text).size() == 100);
    const std::string settings = folder.write("own/tokenizer_config.json", "{}");
    const Outcome own = call({"train", config, "--out", folder.file("own"), "--set",
                              "data.tokenizer=" + folder.write("own/mine.json", "{}")});
    CHECK_THAT(own.err, contains("tokenizer_config.json: is read as data and would be replaced"));
    CHECK(std::filesystem::exists(settings));
    const std::string part = folder.write("part.txt", std::string(100, 'a'));
    CHECK_THAT(call({"train", byte_config(folder.file("d.json"), folder.file("*.txt")), "--out", folder.file("other"),
                     "--trace", part})
                   .err,
               contains("is the data"));
    CHECK(content_of(part).size() == 100);
}
