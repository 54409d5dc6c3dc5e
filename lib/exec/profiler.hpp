#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "exec/executor.hpp"

namespace causeway {

/// What one op has cost so far.
struct ProfileRow {
    std::string op;
    std::int64_t calls = 0;  ///< steps run
    double seconds = 0;
    double flops = 0;
    double bytes = 0;
    double share = 0;  ///< of the time of all steps
};

/// Measures the step groups of one plan: two clock readings a group, no allocation while it runs. A group of several
/// steps divides its time among them in proportion to their predicted times.
class Profiler final : public ExecutionObserver {
  public:
    explicit Profiler(const ExecutionPlan& plan);

    void group_begins(std::int32_t group) override;
    void group_ends(std::int32_t group) override;
    void reset();

    /// By op, most time first.
    std::vector<ProfileRow> rows() const;
    /// Seconds and runs of one group so far.
    double seconds(std::int32_t group) const { return totals_[static_cast<std::size_t>(group)].seconds; }
    std::int64_t runs(std::int32_t group) const { return totals_[static_cast<std::size_t>(group)].runs; }

  private:
    using Clock = std::chrono::steady_clock;
    struct Total {
        double seconds = 0;
        std::int64_t runs = 0;
    };
    const ExecutionPlan& plan_;
    std::vector<Total> totals_;  ///< by group
    Clock::time_point begin_;
};

}  // namespace causeway
