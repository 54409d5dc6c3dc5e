#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "compile/schedule.hpp"
#include "graph/graph.hpp"
#include "plan/execution_plan.hpp"

namespace causeway {

/// The two regions that all plans of a model share: a value of the same name lies at the same place in each of them.
class SharedLayout {
  public:
    /// The place of the value in its region, given now if it has none yet. Throws GraphError when two plans disagree
    /// about its size.
    BufferRef place(Region region, const std::string& name, std::int64_t bytes);
    std::int64_t bytes(Region region) const { return ends_[static_cast<std::size_t>(region)]; }

  private:
    struct Entry {
        BufferRef place;
        std::int64_t bytes;
    };
    std::map<std::string, Entry> entries_;
    std::array<std::int64_t, region_count> ends_{};
};

/// Where everything lies.
struct Placement {
    std::vector<BufferRef> values;                      ///< by value
    std::vector<BufferRef> workspaces;                  ///< by node
    std::vector<std::int32_t> first_group, last_group;  ///< by value: lifetime in schedule groups
    std::int64_t scratch_bytes = 0;
    std::int64_t scratch_without_reuse = 0;
};

/// Gives every value and workspace its place. Scratch values share memory when their lifetimes do not overlap: largest
/// first, each at the lowest offset that is free for its whole lifetime (the "greedy by size" of Pisarchyk and Lee
/// 2020). Without `reuse`, every one has its own. `workspace_bytes` is by node. O(n^2) in the number of scratch values.
Placement plan_memory(const Graph& graph, const Schedule& schedule, const std::vector<std::int64_t>& workspace_bytes,
                      bool reuse, SharedLayout& shared);

}  // namespace causeway
