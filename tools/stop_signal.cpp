#include "stop_signal.hpp"

#include <unistd.h>

#include <array>
#include <csignal>

namespace causeway::cli {
namespace {

std::atomic<bool> stop{false};
volatile std::sig_atomic_t received = 0;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch nothing else");

constexpr std::array handled{SIGINT, SIGTERM};

extern "C" void on_signal(int number) {
    if (received != 0) _exit(128 + number);
    received = number;
    stop.store(true, std::memory_order_relaxed);
}

void set_handlers(void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (const int number : handled) sigaction(number, &action, nullptr);
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
const char* StopSignal::name() const { return received == SIGTERM ? "SIGTERM" : "SIGINT"; }

}  // namespace causeway::cli
