#include "cli/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace {

struct Ends {
    int read = -1, write = -1;
};

Ends open_pipe() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw std::runtime_error("pipe failed");
    return {ends[0], ends[1]};
}

Ends open_terminal(unsigned short columns) {
    Ends ends;
    winsize size{};
    size.ws_col = columns;
    size.ws_row = 24;
    if (openpty(&ends.read, &ends.write, nullptr, nullptr, &size) != 0) throw std::runtime_error("openpty failed");
    return ends;
}

Ends open_output(Stdout kind) {
    if (kind == Stdout::terminal) return open_terminal(200);
    if (kind == Stdout::narrow_terminal) return open_terminal(80);
    if (kind == Stdout::full) return {-1, open("/dev/full", O_WRONLY)};
    Ends ends = open_pipe();
    if (kind == Stdout::closed) {
        close(ends.read);
        ends.read = -1;
    }
    return ends;
}

[[noreturn]] void become_causeway(const Start& start, int out, int err) {
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    for (int descriptor = 3; descriptor < 64; ++descriptor) close(descriptor);
    std::signal(SIGPIPE, SIG_DFL);
    for (const std::string& variable : start.environment) putenv(const_cast<char*>(variable.c_str()));
    if (start.in_child) start.in_child();
    std::vector<char*> arguments{const_cast<char*>(CAUSEWAY_CLI)};
    for (const std::string& argument : start.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    execv(CAUSEWAY_CLI, arguments.data());
    _exit(126);
}

/// A program that says nothing for so long hangs. Sanitizers and busy machines make a quiet training run take minutes.
constexpr int silence_ms = 500'000;

/// Appends what is there; false when the other side has closed.
bool read_some(int descriptor, std::string& text) {
    std::array<char, 4096> buffer{};
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count <= 0) return false;  // a terminal reports its end as an error
    text.append(buffer.data(), static_cast<std::size_t>(count));
    return true;
}

void read_all(pid_t process, Ends out, Ends err, const Start& start, Outcome& outcome) {
    std::array<pollfd, 2> sources{{{out.read, POLLIN, 0}, {err.read, POLLIN, 0}}};
    while (sources[0].fd >= 0 || sources[1].fd >= 0) {
        if (poll(sources.data(), sources.size(), silence_ms) == 0) {
            kill(process, SIGKILL);
            return;
        }
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (sources[i].fd < 0 || sources[i].revents == 0) continue;
            if (!read_some(sources[i].fd, i == 0 ? outcome.out : outcome.err)) sources[i].fd = -1;
            if (i == 0 && start.on_output) start.on_output(process, outcome.out);
        }
    }
}

}  // namespace

bool terminals_exist() {
    Ends ends;
    const bool exist = openpty(&ends.read, &ends.write, nullptr, nullptr, nullptr) == 0;
    if (exist) {
        close(ends.read);
        close(ends.write);
    } else {
        std::fputs("SKIPPED: this system has no pseudo-terminals (/dev/pts), what needs one is not tested\n", stderr);
    }
    return exist;
}

Outcome run_causeway(const Start& start) {
    const Ends out = open_output(start.output), err = open_pipe();
    const pid_t process = fork();
    if (process == 0) become_causeway(start, out.write, err.write);
    close(out.write);
    close(err.write);
    Outcome outcome;
    read_all(process, out, err, start, outcome);
    int status = 0;
    waitpid(process, &status, 0);
    if (out.read >= 0) close(out.read);
    close(err.read);
    outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return outcome;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::string config_path(const std::string& name) { return std::string(CAUSEWAY_SOURCE_DIR) + "/configs/" + name; }

std::vector<std::string> tiny_training(const std::string& folder, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"train", config_path("repeat_h4.json"), "--out", folder};
    for (const char* set : {"train.max_steps=12", "train.steps_per_epoch=6", "train.log_every=5", "train.eval_every=6",
                            "model.hidden_size=16", "train.batch_size=4"}) {
        arguments.insert(arguments.end(), {"--set", set});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

std::string byte_config(const std::string& path, const std::string& text) {
    std::ofstream(path) << R"({"model": {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
        "max_position_embeddings": 16}, "train": {"batch_size": 4, "max_steps": 400, "learning_rate": 0.01},
        "data": {"path": ")"
                        << text << "\"}}";
    return path;
}
