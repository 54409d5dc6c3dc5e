#pragma once

#include <array>

#include "base/buffer.hpp"
#include "exec/thread_pool.hpp"
#include "plan/execution_plan.hpp"

namespace causeway {

/// The memory that the plans of one model run in: parameters, state, and the scratch of the largest mode.
class Arena {
  public:
    /// Reserves the largest regions that the plans need. Throws CapacityError, with both figures, when they exceed
    /// `limit_bytes` (0: what the machine and the cgroup leave), before anything is reserved.
    explicit Arena(std::initializer_list<const ExecutionPlan*> plans, std::size_t limit_bytes = 0);
    explicit Arena(const std::vector<const ExecutionPlan*>& plans, std::size_t limit_bytes = 0);

    std::byte* base(Region region) const { return buffers_[static_cast<std::size_t>(region)].data(); }
    std::size_t bytes(Region region) const { return buffers_[static_cast<std::size_t>(region)].size(); }

    /// Touches every page, on all threads of the pool, so that no page fault lands in a step.
    void touch(ThreadPool& pool);

  private:
    std::array<Buffer, region_count> buffers_;
};

}  // namespace causeway
