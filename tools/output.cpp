#include "output.hpp"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/format.hpp"

namespace causeway::cli {
namespace {

/// Writes everything; returns the system's error number, 0 when all went well.
int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

}  // namespace

void reserve_standard_descriptors() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(descriptor, F_GETFD) != -1) continue;
        // open takes the lowest number that is free: this one, as those below it are open by now
        if (open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) != descriptor) return;
    }
}

void print(std::string_view text) {
    const int error = write_all(STDOUT_FILENO, text);
    if (error != 0) throw OutputError(fmt::format("cannot write to standard output: {}", std::strerror(error)));
}

void warn_of_unused(std::string_view command, std::string_view source, const std::vector<std::string>& tensors) {
    constexpr std::size_t most_named = 5;
    if (tensors.empty()) return;
    const auto end = tensors.begin() + static_cast<std::ptrdiff_t>(std::min(tensors.size(), most_named));
    complain(command,
             fmt::format("warning: {} has tensors that the model has no use for ({}): {}{}", source, tensors.size(),
                         fmt::join(tensors.begin(), end, ", "), tensors.size() > most_named ? ", ..." : ""));
}

void complain(std::string_view command, std::string_view message) {
    // There is nobody left to tell when standard error is gone too.
    write_all(STDERR_FILENO, fmt::format("{}: {}\n", command, message));
}

bool stdout_is_terminal() {
    static const bool terminal = isatty(STDOUT_FILENO) == 1;
    return terminal;
}

bool stdout_has_colour() {
    const char* refused = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    return stdout_is_terminal() && (refused == nullptr || *refused == '\0') &&
           (term == nullptr || std::strcmp(term, "dumb") != 0);
}

int terminal_width() {
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace causeway::cli
