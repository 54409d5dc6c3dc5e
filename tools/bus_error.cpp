#include "bus_error.hpp"

#include <unistd.h>

#include <csignal>

#include "base/format.hpp"
#include "command.hpp"

namespace causeway::cli {
namespace {

std::string message;  // made beforehand: a handler may not build one

extern "C" void on_bus_error(int) {
    if (write(STDERR_FILENO, message.data(), message.size()) < 0) _exit(exit_failure);  // nobody to tell
    _exit(exit_failure);
}

}  // namespace

BusErrorNote::BusErrorNote(const std::string& command, const std::string& advice) {
    message = fmt::format("{}: a file became shorter while it was being read (SIGBUS); {}\n", command, advice);
    struct sigaction action {};
    action.sa_handler = on_bus_error;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, nullptr);
}

BusErrorNote::~BusErrorNote() { std::signal(SIGBUS, SIG_DFL); }

}  // namespace causeway::cli
