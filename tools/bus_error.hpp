#pragma once

#include <string>

namespace causeway::cli {

/// While it lives, SIGBUS ends the process with exit code 1 and one line on standard error instead of a core: a file
/// that is mapped, the data, became shorter between the look at its length and the reading. One at a time.
class BusErrorNote {
  public:
    /// `advice` ends the line.
    BusErrorNote(const std::string& command, const std::string& advice);
    ~BusErrorNote();
    BusErrorNote(const BusErrorNote&) = delete;
    BusErrorNote& operator=(const BusErrorNote&) = delete;
};

}  // namespace causeway::cli
