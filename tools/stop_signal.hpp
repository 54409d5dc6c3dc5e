#pragma once

#include <atomic>

namespace causeway::cli {

/// While it lives, the first SIGINT (Ctrl-C), SIGTERM or SIGHUP (a terminal that is gone) sets a flag, so that the work
/// can end in order; the second ends the process at once with exit code 128 + its number. One at a time.
class StopSignal {
  public:
    StopSignal();
    ~StopSignal();
    StopSignal(const StopSignal&) = delete;
    StopSignal& operator=(const StopSignal&) = delete;

    const std::atomic<bool>& flag() const;
    /// For other reasons to stop than a signal.
    void request();
    /// The number of the signal that came, 0 for none.
    int number() const;
    /// "SIGINT", "SIGTERM", "SIGHUP"; empty when none came
    const char* name() const;
};

}  // namespace causeway::cli
