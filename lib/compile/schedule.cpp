#include "compile/schedule.hpp"

#include <algorithm>

namespace causeway {
namespace {

/// What the nodes of an open group read and write, by memory.
class OpenGroup {
  public:
    explicit OpenGroup(const Graph& graph) : graph_(graph) {}

    bool depends(const Node& node) const {
        const auto touches = [&](const std::vector<ValueId>& set, ValueId id) {
            return id && std::ranges::find(set, graph_.storage_of(id)) != set.end();
        };
        for (ValueId input : node.inputs) {
            if (touches(written_, input)) return true;
        }
        return std::ranges::any_of(node.outputs,
                                   [&](ValueId id) { return touches(written_, id) || touches(read_, id); });
    }

    void add(const Node& node) {
        for (ValueId id : node.inputs) {
            if (id) read_.push_back(graph_.storage_of(id));
        }
        for (ValueId id : node.outputs) written_.push_back(graph_.storage_of(id));
    }

    void clear() {
        read_.clear();
        written_.clear();
    }

  private:
    const Graph& graph_;
    std::vector<ValueId> read_, written_;
};

}  // namespace

Schedule schedule_nodes(const Graph& graph) {
    Schedule schedule;
    OpenGroup open(graph);
    for (Phase phase : all_phases) {
        bool starts = true;  // a phase never shares a group with another
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(graph.nodes().size()); ++i) {
            const Node& node = graph.node({i});
            if (node.phase != phase) continue;
            if (starts || open.depends(node)) {
                schedule.groups.push_back({phase, {}});
                open.clear();
                starts = false;
            }
            schedule.groups.back().nodes.push_back({i});
            open.add(node);
        }
    }
    return schedule;
}

}  // namespace causeway
