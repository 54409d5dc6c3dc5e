#include "cli/resume_support.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>

#include "io/temporary_name.hpp"
#include "support/catch.hpp"
#include "support/metrics.hpp"
#include "train/run_checkpoints.hpp"

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// Without what depends on the clock, and what an interruption may leave out.
json comparable(json line, bool whole) {
    for (const char* key : {"tokens_per_second", "elapsed_s", "ended_by"}) line.erase(key);
    if (whole) return line;
    std::vector<std::string> validation;
    for (const auto& [key, value] : line.items()) {
        if (key.starts_with("val_")) validation.push_back(key);
    }
    for (const std::string& key : validation) line.erase(key);
    return line;
}

using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work) {
    const auto begin = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// True when a folder has something that a write has not finished.
bool is_unfinished(const std::string& folder) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
        if (causeway::is_temporary_name(entry.path().filename().string())) return true;
    }
    return false;
}

/// Kills a process while a checkpoint of its run is being written; false when the process ends before.
bool kill_in_save(pid_t process, const std::string& run) {
    const std::string checkpoints = run + "/checkpoints";
    for (;;) {
        siginfo_t info{};
        if (!is_unfinished(checkpoints)) {
            waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOHANG | WNOWAIT);
            if (info.si_pid == process) return false;
            continue;
        }
        kill(process, SIGSTOP);  // the write may have ended meanwhile: look again while nothing moves
        waitid(P_PID, static_cast<id_t>(process), &info, WSTOPPED | WEXITED | WNOWAIT);
        if (info.si_code != CLD_STOPPED) return false;
        if (is_unfinished(checkpoints)) {
            kill(process, SIGKILL);
            return true;
        }
        waitid(P_PID, static_cast<id_t>(process), &info, WSTOPPED);  // takes the report of the stop
        kill(process, SIGCONT);
    }
}

/// Starts a run, or goes on with what is there of it.
std::vector<std::string> begin_or_resume(const std::string& config, const std::string& run) {
    const bool begun = fs::exists(run + "/config.json") || fs::exists(run + "/checkpoints");
    return begun ? std::vector<std::string>{"train", "--resume", run, "--quiet"}
                 : std::vector<std::string>{"train", config, "--out", run, "--quiet"};
}

}  // namespace

TemporaryFolder folder_in_memory() {
    struct Setting {
        explicit Setting(const char* value) {
            if (const char* old = std::getenv("TMPDIR")) before = old;
            if (access(value, W_OK) == 0) setenv("TMPDIR", value, 1);
        }
        ~Setting() {
            if (before) {
                setenv("TMPDIR", before->c_str(), 1);
            } else {
                unsetenv("TMPDIR");
            }
        }
        Setting(const Setting&) = delete;
        Setting& operator=(const Setting&) = delete;
        std::optional<std::string> before;
    };
    const Setting setting("/dev/shm");
    return TemporaryFolder();
}

std::string resumable_config(const TemporaryFolder& folder) {
    std::string text;
    for (int i = 0; i < 600; ++i) text.push_back(static_cast<char>(32 + (i * i + 5 * i) % 90));
    folder.write("text.txt", text);
    const json config{{"model",
                       {{"vocab_size", 256},
                        {"hidden_size", 16},
                        {"num_hidden_layers", 2},
                        {"num_attention_heads", 2},
                        {"max_position_embeddings", 12},
                        {"attention_dropout", 0.1},
                        {"resid_pdrop", 0.1}}},
                      {"data", {{"source", "text"}, {"path", folder.file("text.txt")}, {"sampling", "epoch"}}},
                      {"train",
                       {{"batch_size", 2},
                        {"gradient_accumulation_steps", 3},
                        {"max_steps", straight_steps},
                        {"eval_every", 16},
                        {"checkpoint_every", 8},
                        {"learning_rate", 0.01},
                        {"warmup_steps", 10},
                        {"max_grad_norm", 1.0}}},
                      {"runtime", {{"threads", 1}}}};
    return folder.write("config.json", config.dump(2));
}

Outcome run_and_watch(const std::vector<std::string>& arguments, const std::function<void(pid_t)>& watch,
                      const std::function<void()>& in_child) {
    const TemporaryFolder outputs;
    const std::string out = outputs.write("out", ""), err = outputs.write("err", "");
    const pid_t process = fork();
    if (process == 0) {
        dup2(open(out.c_str(), O_WRONLY), STDOUT_FILENO);
        dup2(open(err.c_str(), O_WRONLY), STDERR_FILENO);
        for (int descriptor = 3; descriptor < 64; ++descriptor) close(descriptor);
        if (in_child) in_child();
        std::vector<char*> words{const_cast<char*>(CAUSEWAY_CLI)};
        for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
        words.push_back(nullptr);
        execv(CAUSEWAY_CLI, words.data());
        _exit(126);
    }
    watch(process);
    int status = 0;
    waitpid(process, &status, 0);
    Outcome outcome;
    outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.out = content_of(out);
    outcome.err = content_of(err);
    return outcome;
}

void check_same_run(const std::string& run, const std::string& expected, bool whole) {
    const std::vector<json> lines = metrics_of(run), wanted = metrics_of(expected);
    REQUIRE(lines.size() == wanted.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (comparable(lines[i], whole) == comparable(wanted[i], whole)) continue;
        FAIL("line " << i + 1 << " is " << lines[i] << ", expected " << wanted[i]);
    }
    const std::string here = causeway::train::list_checkpoints({run}).at(0).folder;
    const std::string there = causeway::train::list_checkpoints({expected}).at(0).folder;
    for (const char* file : {"/model.safetensors", "/optimizer.safetensors"}) {
        CHECK((content_of(here + file) == content_of(there + file)));
    }
    CHECK((content_of(run + "/model.safetensors") == content_of(expected + "/model.safetensors")));
}

int kill_and_resume(int kills) {
    const TemporaryFolder folder = folder_in_memory();
    const std::string config = resumable_config(folder), straight = folder.file("straight");
    const double start = seconds_of([&] {
        call({"train", config, "--out", folder.file("nothing"), "--quiet", "--set", "train.max_steps=1"});
    });
    const double all = seconds_of([&] { REQUIRE(call({"train", config, "--out", straight, "--quiet"}).code == 0); });
    // On average a run gets to a seventh of its steps before it is killed; some die before their first.
    std::mt19937 random(20240229);
    std::uniform_real_distribution<double> delay(0.3 * start, start + (all - start) * 2 / 7);
    int killed = 0, rounds = 0, in_saves = 0;
    std::set<std::size_t> progress;
    for (bool done = false; killed < kills || !done;) {
        const std::string run = folder.file("run" + std::to_string(rounds));
        const bool to_the_end = killed >= kills;
        const Outcome outcome = run_and_watch(begin_or_resume(config, run), [&](pid_t process) {
            if (to_the_end) return;
            if (killed == 0 && kill_in_save(process, run)) return;
            usleep(static_cast<useconds_t>(1e6 * delay(random)));
            kill(process, SIGKILL);
        });
        done = outcome.code == 0;
        if (outcome.signal == SIGKILL) ++killed;
        if (outcome.signal == SIGKILL && is_unfinished(run + "/checkpoints")) ++in_saves;
        if (!done && outcome.signal != SIGKILL) FAIL("exit code " << outcome.code << ": " << outcome.err);
        progress.insert(lines_of(content_of(run + "/metrics.jsonl")).size());
        if (!done) continue;
        INFO("round " << rounds << " after " << killed << " kills");
        check_same_run(run, straight, true);
        ++rounds;
    }
    CHECK(killed == kills);
    CHECK(progress.size() > static_cast<std::size_t>(kills) / 3);  // at many different moments
    return in_saves;
}
