#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/execution_observer.hpp"

namespace causeway {

/// What one op has cost so far.
struct ProfileRow {
    std::string op;
    std::int64_t calls = 0;   ///< steps run
    double seconds = 0;       ///< of the clock on the wall
    double busy_seconds = 0;  ///< spent in its tiles, summed over the threads
    double flops = 0;
    double bytes = 0;
};

/// Measures the step groups of one plan, whatever the phase, and each thread's share in their steps. A group of several
/// steps divides its time among them in proportion to the time that all threads spent in each; in proportion to the
/// predicted times where none was reported. Allocates nothing while it watches.
class Profiler final : public ExecutionObserver {
  public:
    /// The plan must outlive the profiler.
    explicit Profiler(const ExecutionPlan& plan);

    void group_begins(std::int32_t group) override;
    void group_ends(std::int32_t group) override;
    void tiles_ran(const TileRun& run) override;
    void reset();

    /// By op, most time first.
    std::vector<ProfileRow> rows() const;
    /// Seconds and runs of one group so far.
    double seconds(std::int32_t group) const { return totals_[static_cast<std::size_t>(group)].seconds; }
    std::int64_t runs(std::int32_t group) const { return totals_[static_cast<std::size_t>(group)].runs; }
    /// Seconds of all groups.
    double seconds() const;

  private:
    struct Total {
        double seconds = 0;
        std::int64_t runs = 0;
    };
    const ExecutionPlan& plan_;
    std::vector<Total> totals_;  ///< by group
    std::vector<double> busy_;   ///< seconds of all threads, by step
    ExecutionClock::time_point begin_;
};

}  // namespace causeway
