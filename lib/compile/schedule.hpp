#pragma once

#include <vector>

#include "graph/graph.hpp"

namespace causeway {

/// Nodes in the order they run, in groups whose members do not depend on each other.
struct Schedule {
    struct Group {
        Phase phase = Phase::step;
        std::vector<NodeId> nodes;
    };
    std::vector<Group> groups;  ///< pack, step, update, each in topological order
};

/// Puts neighbours that are independent (of results and of memory) into one group. Pure; order follows the graph.
Schedule schedule_nodes(const Graph& graph);

}  // namespace causeway
