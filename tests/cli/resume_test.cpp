#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "cli/resume_support.hpp"
#include "io/folder_lock.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "support/under_sanitizer.hpp"

namespace fs = std::filesystem;

namespace {

/// The steps up to a number, then a signal.
Outcome interrupt_after(const std::vector<std::string>& arguments, const std::string& run, std::size_t lines,
                        int signal) {
    return run_and_watch(arguments, [&](pid_t process) {
        for (int i = 0; i < 60'000 && lines_of(content_of(run + "/metrics.jsonl")).size() < lines; ++i) usleep(500);
        kill(process, signal);
    });
}

/// `causeway train` with these arguments and a few more.
std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

std::vector<std::string> resume_arguments(const std::string& run, const std::vector<std::string>& more = {}) {
    return with({"train", "--resume", run}, more);
}

/// The record of the run says that it failed, and why.
void check_failed(const std::string& run, const std::string& why) {
    const nlohmann::json session = nlohmann::json::parse(content_of(run + "/run.json")).at("sessions").back();
    CHECK(session.at("state") == "failed");
    CHECK_THAT(session.at("ended_by").get<std::string>(), contains(why));
}

}  // namespace

TEST_CASE("B65: a run that a signal ended goes on to the same bits as one that was left alone") {
    const TemporaryFolder folder = folder_in_memory();
    const std::string config = resumable_config(folder), straight = folder.file("straight");
    REQUIRE(call({"train", config, "--out", straight, "--quiet"}).code == 0);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const std::string run = folder.file("run" + std::to_string(signal));
        const Outcome ended = interrupt_after({"train", config, "--out", run, "--quiet"}, run, 40, signal);
        REQUIRE(ended.code == 128 + signal);
        CHECK_THAT(ended.err, contains("ended by SIG") && contains(", saved in " + run));
        const std::size_t steps = lines_of(content_of(run + "/metrics.jsonl")).size();
        CHECK(steps < straight_steps);
        const Outcome resumed = call(resume_arguments(run, {"--set", "runtime.threads=2"}));
        CHECK(resumed.err == "");
        CHECK(resumed.code == 0);
        CHECK_THAT(resumed.out, contains("resuming " + run + " after step " + std::to_string(steps) + "\n") &&
                                    contains("resume  runtime.threads 1 -> 2\n") && contains("done after 400 steps"));
        check_same_run(run, straight, false);
    }
}

TEST_CASE("nohup's SIGHUP stays ignored") {
    const TemporaryFolder folder = folder_in_memory();
    const std::string run = folder.file("run");
    const std::vector<std::string> arguments{"train", resumable_config(folder), "--out", run, "--quiet"};
    const Outcome outcome = run_and_watch(
        arguments,
        [&](pid_t process) {
            for (int i = 0; i < 60'000 && !fs::exists(run + "/metrics.jsonl"); ++i) usleep(500);
            kill(process, SIGHUP);
        },
        [] { std::signal(SIGHUP, SIG_IGN); });
    CHECK(outcome.code == 0);
    CHECK(outcome.err == "");
}

TEST_CASE("a run that is done says so, and goes on with more steps") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    REQUIRE(call(tiny_training(run)).code == 0);
    const Outcome done = call(resume_arguments(run));
    CHECK(done.code == 0);
    CHECK(done.err == "");
    CHECK(done.out == run + ": the run is done: 12 of 12 steps; --set train.max_steps=N goes on with more\n");
    const Outcome more = call(resume_arguments(run, {"--set", "train.max_steps=15"}));
    CHECK(more.code == 0);
    CHECK_THAT(more.out,
               contains("resume  train.max_steps 12 -> 15: where the run ends") && contains("done after 15 steps"));
    const std::vector<std::string> lines = lines_of(content_of(run + "/metrics.jsonl"));
    REQUIRE(lines.size() == 15);
    for (std::size_t i = 0; i < lines.size(); ++i) {
        CHECK(lines[i].starts_with("{\"step\":" + std::to_string(i + 1) + ","));
    }
    // What was asked for stays asked for.
    CHECK_THAT(call(resume_arguments(run)).out, contains("the run is done: 15 of 15 steps"));
    CHECK_THAT(call(resume_arguments(run, {"--quiet"})).out, !contains("done"));
}

TEST_CASE("what cannot be resumed, or not like this, is refused with the reason") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    REQUIRE(call(tiny_training(run)).code == 0);
    const auto complaint = [](const std::vector<std::string>& arguments, int code) {
        const Outcome outcome = call(arguments);
        CHECK(outcome.code == code);
        CHECK(lines_of(outcome.err).size() == 1);
        return outcome.err;
    };
    CHECK_THAT(complaint(resume_arguments(run, {"--set", "train.batch_size=8"}), 1),
               contains("causeway train: train.batch_size: found 8, expected 4 as in the checkpoint"));
    CHECK_THAT(complaint(resume_arguments(folder.file("none")), 1), contains("none: is not the folder of a run"));
    CHECK_THAT(complaint(resume_arguments(fs::path(folder.write("empty/x", "")).parent_path().string()), 1),
               contains("empty: is not the folder of a run: it has no config.json"));
    CHECK_THAT(complaint(tiny_training(run), 1), contains("--resume " + run + " goes on with it"));
    CHECK_THAT(complaint(resume_arguments(run, {"--out", run}), 2), contains("--out"));
    CHECK_THAT(complaint(resume_arguments(run, {"a.json"}), 2), contains("CONFIG"));
    CHECK_THAT(complaint({"train", "--out", run}, 2), contains("CONFIG is required"));
    fs::remove_all(run + "/checkpoints");
    CHECK_THAT(complaint(resume_arguments(run), 1), contains("has a model but no checkpoint to go on from"));
}

TEST_CASE("two runs do not share a folder") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    fs::create_directory(run);
    {
        const causeway::FolderLock lock(run);
        const Outcome second = call(tiny_training(run));
        CHECK(second.code == 1);
        CHECK_THAT(second.err, contains(run + ": another process is training in this folder"));
        CHECK(!fs::exists(run + "/config.json"));
    }
    REQUIRE(call(tiny_training(run)).code == 0);
    const causeway::FolderLock lock(run);
    for (const auto& arguments : {resume_arguments(run), tiny_training(run, {"--overwrite"})}) {
        CHECK_THAT(call(arguments).err, contains("another process is training in this folder"));
        CHECK(fs::exists(run + "/model.safetensors"));
    }
}

TEST_CASE("B63: a damaged checkpoint is passed over, said even by a quiet run, and made anew") {
    const TemporaryFolder folder = folder_in_memory();
    const std::string config = resumable_config(folder), straight = folder.file("straight"), run = folder.file("run");
    REQUIRE(call({"train", config, "--out", straight, "--quiet"}).code == 0);
    REQUIRE(call({"train", config, "--out", run, "--quiet"}).code == 0);
    const std::string newest = run + "/checkpoints/step_00000400";
    fs::resize_file(newest + "/optimizer.safetensors", 1000);
    // What a killed run leaves.
    fs::create_directory(run + "/checkpoints/step_00000396.tmp-1-7");
    const Outcome resumed = call(resume_arguments(run, {"--quiet"}));
    CHECK(resumed.code == 0);
    CHECK_THAT(resumed.err, contains("causeway train: " + newest + "/optimizer.safetensors: is damaged") &&
                                contains("going on from the older " + run + "/checkpoints/step_00000392"));
    check_same_run(run, straight, true);
    CHECK(fs::exists(newest + ".damaged"));
    CHECK(!fs::exists(run + "/checkpoints/step_00000396.tmp-1-7"));
}

TEST_CASE("a run from other weights can be resumed before its first checkpoint of its own") {
    const TemporaryFolder folder;
    const std::string start = folder.file("start"), straight = folder.file("straight"), run = folder.file("run");
    REQUIRE(call(tiny_training(start)).code == 0);
    const std::vector<std::string> from{"--init-from", start, "--set", "train.seed=5"};
    REQUIRE(call(tiny_training(straight, from)).code == 0);
    REQUIRE(call(tiny_training(run, from)).code == 0);
    // As if killed in the first steps.
    fs::remove_all(run + "/checkpoints/step_00000012");
    fs::remove(run + "/config.json");
    const Outcome resumed = call(resume_arguments(run));
    CHECK(resumed.code == 0);
    CHECK_THAT(resumed.out, contains("resuming " + run + " before its first step"));
    check_same_run(run, straight, true);
}

TEST_CASE("B63: a full disk ends a run with an error, and the checkpoint before it is good") {
    const TemporaryFolder folder = folder_in_memory();
    const std::string disk = folder.file("disk"), config = resumable_config(folder), straight = folder.file("straight");
    fs::create_directory(disk);
    if (mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=600k") != 0) {
        std::fputs("SKIPPED: no tmpfs can be mounted here (not root): a full disk is not tested\n", stderr);
        SUCCEED("skipped");
        return;
    }
    const std::string run = disk + "/run";
    const Outcome full = call({"train", config, "--out", run, "--quiet", "--set", "train.keep_checkpoints=100", "--set",
                               "train.report=false"});
    CHECK(full.code == 1);
    CHECK_THAT(full.err, contains(" is not saved: ") && contains("No space left on device") &&
                             contains("--resume " + run + " goes on from it"));
    CHECK(lines_of(full.err).size() == 1);
    check_failed(run, " is not saved: ");
    const Outcome again = call(resume_arguments(run, {"--quiet", "--set", "train.keep_checkpoints=1"}));
    CHECK(again.code == 0);
    CHECK(again.err == "");
    REQUIRE(call({"train", config, "--out", straight, "--quiet"}).code == 0);
    check_same_run(run, straight, true);
    CHECK(umount(disk.c_str()) == 0);
}

TEST_CASE("B63: a folder that may not be written is an error before the first step") {
    const TemporaryFolder folder;
    const std::string disk = folder.file("disk");
    fs::create_directory(disk);
    const bool mounted = mount("tmpfs", disk.c_str(), "tmpfs", MS_RDONLY, "") == 0;
    if (!mounted) chmod(disk.c_str(), 0555);
    const Outcome outcome = call(tiny_training(disk + "/run"));
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, contains(disk + "/run: cannot make the folder: "));
    if (mounted) CHECK(umount(disk.c_str()) == 0);
}

TEST_CASE("B63: a checkpoint that may not grow ends a run with an error and leaves no part of it") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    const auto limit_files = [] {
        const rlimit limit{8000, 8000};
        setrlimit(RLIMIT_FSIZE, &limit);
    };
    std::vector<std::string> arguments = tiny_training(run, {"--set", "train.report=false"});
    const Outcome outcome = run_causeway({arguments, Stdout::pipe, {}, {}, limit_files});
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, contains("step 12 is not saved: ") && contains("File too large") &&
                                contains("there is no older checkpoint"));
    CHECK(fs::is_empty(run + "/checkpoints"));
    CHECK(!fs::exists(run + "/model.safetensors"));
    check_failed(run, "step 12 is not saved: ");
}

TEST_CASE("a limit of memory is an error before anything is touched, and nothing is lost by it") {
    if (under_sanitizer) {
        SUCCEED("skipped: a sanitizer takes all of the address space");
        return;
    }
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    // More than 45 MB for the plan.
    REQUIRE(call({"train", config_path("kjv_bytes.json"), "--out", run, "--quiet", "--set", "data.source=lookback_copy",
                  "--set", "data.path=", "--set", "data.validation_stride=0", "--set", "runtime.threads=1", "--set",
                  "model.num_hidden_layers=1", "--set", "train.batch_size=96", "--set", "train.max_steps=1"})
                .code == 0);
    const auto limit_memory = [] {
        const rlimit limit{45'000'000, 45'000'000};
        setrlimit(RLIMIT_AS, &limit);
    };
    const std::vector<std::string> arguments = resume_arguments(run, {"--quiet", "--set", "train.max_steps=2"});
    const Outcome refused = run_causeway({arguments, Stdout::pipe, {}, {}, limit_memory});
    CHECK(refused.code == 1);
    CHECK_THAT(refused.err, contains("causeway train: the plan needs ") && contains("this process may take"));
    CHECK(lines_of(content_of(run + "/metrics.jsonl")).size() == 1);
    CHECK(call(arguments).code == 0);
    CHECK(lines_of(content_of(run + "/metrics.jsonl")).size() == 2);
}

TEST_CASE("a text that shrinks under a run ends it with an error, saved, whole again, it goes on") {
    const TemporaryFolder folder = folder_in_memory();
    const std::string config = resumable_config(folder), text = folder.file("text.txt"), run = folder.file("run");
    const std::string whole = content_of(text), straight = folder.file("straight");
    REQUIRE(call({"train", config, "--out", straight, "--quiet"}).code == 0);
    const Outcome ended = run_and_watch({"train", config, "--out", run, "--quiet"}, [&](pid_t) {
        for (int i = 0; i < 60'000 && lines_of(content_of(run + "/metrics.jsonl")).size() < 30; ++i) usleep(500);
        fs::resize_file(text, 10);
    });
    REQUIRE(ended.code == 1);
    CHECK_THAT(ended.err, contains(text + ": has become shorter while it was being read: found 10 bytes"));
    CHECK_THAT(call(resume_arguments(run)).err, contains("text.txt"));
    folder.write("text.txt", whole);
    CHECK(call(resume_arguments(run, {"--quiet"})).code == 0);
    check_same_run(run, straight, false);
}

TEST_CASE("SIGBUS is an error with advice, not a core") {
    const TemporaryFolder folder = folder_in_memory();
    const std::string run = folder.file("run");
    const Outcome outcome =
        interrupt_after({"train", resumable_config(folder), "--out", run, "--quiet"}, run, 20, SIGBUS);
    CHECK(outcome.code == 1);
    CHECK(outcome.signal == 0);
    CHECK(outcome.err ==
          "causeway train: a file became shorter while it was being read (SIGBUS); its checkpoints are "
          "good: --resume " +
              run + " goes on from the newest\n");
    CHECK(call(resume_arguments(run, {"--quiet"})).code == 0);
}

TEST_CASE("the model can be used while its run goes on") {
    const TemporaryFolder folder = folder_in_memory();
    const std::string run = folder.file("run");
    bool used = false;
    const Outcome outcome =
        run_and_watch({"train", resumable_config(folder), "--out", run, "--quiet", "--set", "train.max_steps=100000"},
                      [&](pid_t process) {
                          for (int i = 0; i < 60'000 && !fs::exists(run + "/model.safetensors"); ++i) usleep(500);
                          used = call({"generate", run, "--prompt", "ab", "--max-new-tokens", "3"}).code == 0;
                          kill(process, SIGTERM);
                      });
    CHECK(used);
    CHECK(outcome.code == 143);
}

TEST_CASE("B63: a run that is killed again and again, in its steps and its saves, ends with the same bits") {
    CHECK(kill_and_resume(10) > 0);
}
