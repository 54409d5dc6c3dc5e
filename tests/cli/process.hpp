#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

/// What a finished process left.
struct Outcome {
    int code = -1;    ///< exit code; 128 + N when signal N ended it
    int signal = 0;   ///< the signal that ended it, 0 for none
    std::string out;  ///< standard output, or what the terminal received
    std::string err;
};

enum class Stdout {
    pipe,
    terminal,         ///< a pseudo-terminal of 200 columns
    narrow_terminal,  ///< one of 80
    closed,           ///< a pipe whose reader is gone
    full              ///< /dev/full: every write fails for want of space
};

/// False where the system has no pseudo-terminals (a bare chroot without /dev/pts); says so then.
bool terminals_exist();

/// How to start `causeway`.
struct Start {
    std::vector<std::string> arguments;
    Stdout output = Stdout::pipe;
    std::vector<std::string> environment;  ///< "NAME=value", added to this process's
    /// Called with the process each time some output arrived, with all of it so far.
    std::function<void(pid_t process, const std::string& out)> on_output;
    std::function<void()> in_child = {};  ///< called in the new process before it becomes causeway
};

/// Runs the command and waits for it. What says nothing for a minute is killed.
Outcome run_causeway(const Start& start);

inline Outcome call(std::vector<std::string> arguments) { return run_causeway({std::move(arguments), {}, {}, {}}); }

/// The lines of a text, without their ends.
std::vector<std::string> lines_of(const std::string& text);

/// The path of a config of the tree.
std::string config_path(const std::string& name);

/// A model and run so small that a step takes microseconds: arguments for train. Its data are the built-in task
/// `repeat`.
std::vector<std::string> tiny_training(const std::string& folder, const std::vector<std::string>& more = {});

/// A config of a byte model, 2 layers of width 16 and context 16, that reads `text`; the path of the file.
std::string byte_config(const std::string& path, const std::string& text);
