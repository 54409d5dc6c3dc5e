#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/process.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using nlohmann::json;

namespace {

std::vector<std::string> training(const TemporaryFolder& folder, const std::string& run,
                                  const std::vector<std::string>& more) {
    const std::string text = folder.write("text.txt", std::string(2000, 'a') + std::string(2000, 'b'));
    std::vector<std::string> arguments{"train", byte_config(folder.file("config.json"), text), "--out", run, "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

std::size_t event_files(const std::string& run) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(run + "/tensorboard")) {
        count += entry.path().filename().string().starts_with("events.out.tfevents.") ? 1 : 0;
    }
    return count;
}

}  // namespace

TEST_CASE("training leaves a report, its samples and TensorBoard's events, and they change nothing it learns") {
    const TemporaryFolder folder;
    const std::string with = folder.file("with"), without = folder.file("without");
    const std::vector<std::string> records{"--set", "train.sample_every=2",   "--set", "train.sample_tokens=9",
                                           "--set", "train.sample_prompt=ab", "--set", "train.tensorboard=true",
                                           "--set", "train.max_steps=5"};
    REQUIRE(call(training(folder, with, records)).code == 0);
    REQUIRE(call(training(folder, without, {"--set", "train.report=false", "--set", "train.max_steps=5"})).code == 0);
    CHECK(content_of(with + "/model.safetensors") == content_of(without + "/model.safetensors"));
    CHECK_FALSE(std::filesystem::exists(without + "/report.html"));
    CHECK_FALSE(std::filesystem::exists(without + "/samples.jsonl"));
    CHECK_FALSE(std::filesystem::exists(without + "/tensorboard"));
    CHECK(event_files(with) == 1);

    const auto lines = lines_of(content_of(with + "/samples.jsonl"));
    REQUIRE(lines.size() == 2);
    const json sample = json::parse(lines[1]);
    CHECK(sample.at("step") == 4);
    CHECK(sample.at("prompt") == "ab");
    CHECK(sample.at("ids").size() == 9);

    const std::string page = content_of(with + "/report.html");
    CHECK(page.find("class=\"state done\"") != std::string::npos);
    CHECK(page.find("train.max_steps after 5 steps") != std::string::npos);
    CHECK(page.find("step 4") != std::string::npos);
    CHECK(json::parse(content_of(with + "/run.json")).at("sessions").at(0).at("state") == "done");

    // A second run in the same folder keeps nothing of the first.
    std::vector<std::string> again = records;
    again.push_back("--overwrite");
    REQUIRE(call(training(folder, with, again)).code == 0);
    CHECK(event_files(with) == 1);
    CHECK(lines_of(content_of(with + "/samples.jsonl")).size() == 2);
    CHECK(json::parse(content_of(with + "/run.json")).at("sessions").size() == 1);
}

TEST_CASE("a run that is resumed has the samples of one that was not interrupted, and tells its sessions") {
    const TemporaryFolder folder;
    const std::string whole = folder.file("whole"), halves = folder.file("halves");
    const auto with = [](const std::string& steps) {
        return std::vector<std::string>{"--set", "train.sample_every=3",    "--set", "train.sample_tokens=5",
                                        "--set", "train.tensorboard=true",  "--set", "train.lr_schedule=constant",
                                        "--set", "train.max_steps=" + steps};
    };
    REQUIRE(call(training(folder, whole, with("12"))).code == 0);
    REQUIRE(call(training(folder, halves, with("7"))).code == 0);
    // What a process that was killed had written beyond its checkpoint.
    std::ofstream(halves + "/samples.jsonl", std::ios::app) << "{\"step\":9,\"text\":\"lost\"}\n{\"step\":";
    REQUIRE(call({"train", "--resume", halves, "--set", "train.max_steps=12", "--quiet"}).code == 0);
    CHECK(content_of(halves + "/samples.jsonl") == content_of(whole + "/samples.jsonl"));
    CHECK(lines_of(content_of(whole + "/samples.jsonl")).size() == 4);
    CHECK(event_files(halves) == 2);

    const json sessions = json::parse(content_of(halves + "/run.json")).at("sessions");
    REQUIRE(sessions.size() == 2);
    CHECK(sessions[0].at("ended_by") == "train.max_steps after 7 steps");
    CHECK(sessions[1].at("first_step") == 8);
    const std::string page = content_of(halves + "/report.html");
    CHECK(page.find("<h2>Sessions</h2>") != std::string::npos);
    CHECK(page.find("train.max_steps after 12 steps") != std::string::npos);
}

TEST_CASE("causeway report makes the page of any run, or tells its figures") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    REQUIRE(call(training(folder, run, {"--set", "train.report=false", "--set", "train.max_steps=3"})).code == 0);
    std::filesystem::remove(run + "/run.json");  // as a run from before there were any
    const Outcome written = call({"report", run});
    CHECK(written.code == 0);
    CHECK(written.out == "wrote " + run + "/report.html\n");
    CHECK(content_of(run + "/report.html").find("class=\"state done\"") != std::string::npos);
    const Outcome text = call({"report", run, "--text"});
    CHECK(text.code == 0);
    CHECK(text.out.find("steps, of 3           3\n") != std::string::npos);

    const Outcome missing = call({"report", folder.file("nothing")});
    CHECK(missing.code == 1);
    CHECK(missing.err.find("there is no such folder") != std::string::npos);
}

TEST_CASE("records that cannot be written are known before the first step") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    std::filesystem::create_directories(run + "/samples.jsonl/in_the_way");
    const Outcome begun = call(training(folder, run, {"--set", "train.sample_every=1"}));
    CHECK(begun.code == 1);
    CHECK(begun.err.find("samples.jsonl") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(run + "/model.safetensors"));
}

TEST_CASE("a report that cannot be written any more ends no run, and is told") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run"), page = run + "/report.html";
    std::vector<std::string> arguments = training(folder, run, {"--set", "train.max_steps=20"});
    std::erase(arguments, "--quiet");
    bool put = false;
    const Outcome ended = run_causeway({arguments, Stdout::pipe, {}, [&](pid_t, const std::string& out) {
                                            if (put || out.find("step  1/20") == std::string::npos) return;
                                            put = true;
                                            std::filesystem::remove(page);
                                            std::filesystem::create_directories(page + "/in_the_way");
                                        }});
    CHECK(put);
    CHECK(ended.code == 1);
    CHECK(ended.err.find("report.html") != std::string::npos);
    CHECK(std::filesystem::exists(run + "/model.safetensors"));
}

TEST_CASE("samples of a task's tokens are refused before anything is made") {
    const TemporaryFolder folder;
    const Outcome refused = call(tiny_training(folder.file("run"), {"--set", "train.sample_every=3"}));
    CHECK(refused.code == 1);
    CHECK(refused.err.find("train.sample_every: found 3, expected 0") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder.file("run")));
}
