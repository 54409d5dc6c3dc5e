#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "cli/process.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using nlohmann::json;

namespace {

Outcome train(const std::string& run, const std::vector<std::string>& more) { return call(tiny_training(run, more)); }

bool is_trace(const std::string& text) { return !json::parse(text).at("traceEvents").empty(); }

std::size_t files_in(const std::string& folder) {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++count;
    return count;
}

}  // namespace

TEST_CASE("A trace goes into standard output, devices and FIFOs as they are, and through links") {
    const TemporaryFolder folder;
    const Outcome out = train(folder.file("a"), {"--quiet", "--trace", "/dev/stdout"});
    CHECK(out.code == 0);
    CHECK(is_trace(out.out));
    CHECK(train(folder.file("b"), {"--trace", "/dev/null"}).code == 0);
    CHECK(std::filesystem::is_character_file("/dev/null"));

    const std::string fifo = folder.file("fifo"), link = folder.file("link");
    REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
    std::string received;
    std::thread reader([&] { received = content_of(fifo); });
    const Outcome through = train(folder.file("c"), {"--trace", fifo});
    reader.join();
    CHECK(through.code == 0);
    CHECK(is_trace(received));

    std::filesystem::create_symlink("target.json", link);
    CHECK(train(folder.file("d"), {"--trace", link}).code == 0);
    CHECK(std::filesystem::is_symlink(link));
    CHECK(is_trace(content_of(folder.file("target.json"))));
}

TEST_CASE("A trace that would replace a file of the run, its config or its data is refused before anything is made") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    const std::string text = folder.write("text.txt", std::string(4000, 'x'));
    const std::string config = byte_config(folder.file("config.json"), text), written = content_of(config);
    std::filesystem::create_symlink("run/metrics.jsonl", folder.file("link"));
    std::filesystem::create_hard_link(text, folder.file("hard"));
    const auto refused = [&](const std::string& trace, const std::string& what) {
        const Outcome outcome = call({"train", config, "--out", run, "--trace", trace});
        CHECK(outcome.code == 1);
        CHECK(outcome.out == "");
        CHECK(lines_of(outcome.err).size() == 1);
        CHECK_THAT(outcome.err, contains("causeway train: --trace: " + trace + " is " + what));
        CHECK(!std::filesystem::exists(run));
    };
    for (const std::string name : {"metrics.jsonl", "model.safetensors", "config.json"}) {
        refused(run + "/" + name, "a file of the run (" + run + "/" + name + ")");
    }
    refused(folder.file("run/../run/./metrics.jsonl"), "a file of the run");
    refused(folder.file("link"), "a file of the run");
    refused(config, "the config");
    refused(text, "the data");
    refused(folder.file("hard"), "the data");
    refused(folder.path().string(), "a folder");
    refused(run, "a folder");
    CHECK(content_of(config) == written);
    CHECK(content_of(text).size() == 4000);
    const Outcome empty = train(run, {"--trace", ""});
    CHECK(empty.code == 2);
    CHECK_THAT(empty.err, contains("--trace") && contains("is empty, expected a file to write"));
    CHECK(!std::filesystem::exists(run));
}

TEST_CASE("A trace counts in the memory that training takes, and an older run stays when it does not fit") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    const Outcome small = train(run, {"--trace", folder.file("trace.json")});
    CHECK(small.code == 0);
    CHECK_THAT(lines_of(small.out)[3], contains("memory  ") && contains(" for --trace"));
    const std::string parameters = content_of(run + "/model.safetensors"), metrics = content_of(run + "/metrics.jsonl");
    const Outcome large = train(run, {"--overwrite", "--trace", folder.file("large.json"), "--trace-steps", "1000",
                                      "--set", "train.max_steps=2000", "--set", "train.gradient_accumulation_steps=64",
                                      "--set", "runtime.memory_limit_mb=64"});
    CHECK(large.code == 1);
    CHECK_THAT(large.err, contains("causeway train: --trace-steps 1000: recording them takes ") &&
                              contains("at most 64.0 MiB in all (runtime.memory_limit_mb)"));
    CHECK(lines_of(large.err).size() == 1);
    CHECK(content_of(run + "/model.safetensors") == parameters);
    CHECK(content_of(run + "/metrics.jsonl") == metrics);
    CHECK(!std::filesystem::exists(folder.file("large.json")));
    // Nor is it lost to a trace that has no place.
    CHECK(train(run, {"--overwrite", "--trace", folder.file("no/such")}).code == 1);
    CHECK(content_of(run + "/model.safetensors") == parameters);
}

TEST_CASE("A trace that cannot be written is said once and ends nothing but with exit code 1") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    const Outcome outcome = train(run, {"--trace", "/dev/full", "--profile"});
    CHECK(outcome.code == 1);
    CHECK(outcome.err == "causeway train: --trace: /dev/full: cannot write: No space left on device\n");
    CHECK_THAT(outcome.out, contains("done after 12 steps") && contains("all ops"));
    CHECK(lines_of(content_of(run + "/metrics.jsonl")).size() == 12);
    CHECK(train(folder.file("plain"), {}).code == 0);
    CHECK(content_of(run + "/model.safetensors") == content_of(folder.file("plain") + "/model.safetensors"));
}

TEST_CASE("Trace and profile come out when a run diverges") {
    const TemporaryFolder folder;
    const std::string trace = folder.file("trace.json");
    const Outcome outcome =
        train(folder.file("run"), {"--set", "train.learning_rate=1000", "--set", "train.max_steps=50", "--set",
                                   "model.num_hidden_layers=6", "--set", "train.optimizer=adam", "--set",
                                   "train.eval_every=0", "--trace", trace, "--trace-steps", "100", "--profile"});
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, contains("causeway train: step "));
    CHECK(is_trace(content_of(trace)));
    CHECK_THAT(outcome.out, contains("profile of ") && contains("all ops") && contains("\nwriting the trace      ") &&
                                contains("\nmetrics and progress   "));
}

TEST_CASE("A finished run whose profile nobody hears is done, not stopped") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    const Outcome outcome = run_causeway({tiny_training(run, {"--quiet", "--profile"}), Stdout::full, {}, {}});
    CHECK(outcome.code == 1);
    CHECK(outcome.err ==
          "causeway train: cannot write to standard output: No space left on device; done after 12 "
          "steps, saved in " +
              run + "\n");
}

TEST_CASE("A run that died before its first step may be started again, and what it left unfinished goes") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    REQUIRE(train(run, {}).code == 0);
    std::filesystem::remove(run + "/model.safetensors");
    CHECK_THAT(train(run, {}).err, contains("holds a run already (checkpoints)"));
    std::filesystem::remove_all(run + "/checkpoints");
    CHECK_THAT(train(run, {}).err, contains("holds a run already (metrics.jsonl)"));
    folder.write("run/metrics.jsonl", "");
    const pid_t gone = fork();
    if (gone == 0) _exit(0);
    REQUIRE(waitpid(gone, nullptr, 0) == gone);
    folder.write("run/model.safetensors.tmp-" + std::to_string(gone) + "-0", "unfinished");
    CHECK(train(run, {}).code == 0);
    CHECK(files_in(run) == 6);

    // A config that someone wrote by hand would be missed.
    const std::string mine = folder.write("mine/config.json", "{\"train\": {\"max_steps\": 5}}");
    CHECK_THAT(train(folder.file("mine"), {}).err, contains("holds a run already (config.json)"));
    CHECK(files_in(folder.file("mine")) == 1);
}
