#include "stop_signal.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>

namespace causeway::cli {
namespace {

std::atomic<bool> stop{false};
volatile std::sig_atomic_t received = 0;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch nothing else");

struct Handled {
    int number;
    const char* name;
};
constexpr std::array handled{Handled{SIGINT, "SIGINT"}, Handled{SIGTERM, "SIGTERM"}, Handled{SIGHUP, "SIGHUP"}};

extern "C" void on_signal(int number) {
    if (received != 0) _exit(128 + number);
    received = number;
    stop.store(true, std::memory_order_relaxed);
}

/// SIGHUP stays ignored where it is: that is what nohup asks for.
bool is_wanted(int number) {
    struct sigaction now {};
    return number != SIGHUP || sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_IGN;
}

void set_handlers(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (const Handled& signal : handled) {
        if (is_wanted(signal.number)) sigaction(signal.number, &action, nullptr);
    }
}

}  // namespace

StopSignal::StopSignal() {
    received = 0;
    stop = false;
    set_handlers(on_signal);
}

StopSignal::~StopSignal() { set_handlers(SIG_DFL); }

const std::atomic<bool>& StopSignal::flag() const { return stop; }
void StopSignal::request() { stop = true; }
int StopSignal::number() const { return received; }
const char* StopSignal::name() const {
    const int number = received;
    const auto* const found = std::ranges::find(handled, number, &Handled::number);
    return found == handled.end() ? "" : found->name;
}

}  // namespace causeway::cli
