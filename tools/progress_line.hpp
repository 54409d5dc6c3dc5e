#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace causeway::cli {

/// Shows on a terminal, on standard error, how far the reading of some files has come: one line, redrawn in place a few
/// times a second. Elsewhere it shows nothing.
class ProgressLine {
  public:
    /// The share that is done is told where all inputs are files, whose sizes are known.
    explicit ProgressLine(const std::vector<std::string>& inputs);
    ~ProgressLine() { finish(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(std::uint64_t bytes, const std::string& note);
    /// Takes the line away.
    void finish();

  private:
    using Clock = std::chrono::steady_clock;
    bool terminal_;
    bool drawn_ = false;
    std::uint64_t total_ = 0;  ///< 0: unknown
    Clock::time_point begin_ = Clock::now(), last_ = begin_;
};

}  // namespace causeway::cli
