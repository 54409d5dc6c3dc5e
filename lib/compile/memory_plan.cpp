#include "compile/memory_plan.hpp"

#include <algorithm>
#include <numeric>

#include "base/ceil_div.hpp"
#include "base/format.hpp"
#include "causeway/error.hpp"
#include "graph/op_def.hpp"

namespace causeway {
namespace {

/// Every buffer starts on a cache line of its own, which is also the widest vector.
constexpr std::int64_t alignment = 64;

std::int64_t aligned(std::int64_t bytes) { return round_up(bytes, alignment); }

/// A stretch of scratch memory and when it is in use.
struct Block {
    std::int64_t bytes = 0;
    std::int32_t first = 0, last = 0;
    std::int64_t offset = 0;
};

bool lives_in_scratch(Role role) { return role == Role::input || role == Role::activation || role == Role::result; }

Region persistent_region(Role role) {
    const bool state = role == Role::gradient || role == Role::state || role == Role::cache;
    return state ? Region::state : Region::parameters;
}

/// Places blocks largest first, each at the lowest offset where no block with an overlapping lifetime lies.
std::int64_t place_by_size(std::vector<Block>& blocks) {
    std::vector<std::size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return blocks[a].bytes > blocks[b].bytes; });
    std::vector<const Block*> placed;  // by offset
    std::int64_t peak = 0;
    for (std::size_t i : order) {
        Block& block = blocks[i];
        std::int64_t offset = 0;
        for (const Block* other : placed) {
            if (other->last < block.first || other->first > block.last) continue;
            if (offset + block.bytes <= other->offset) break;
            offset = std::max(offset, other->offset + other->bytes);
        }
        block.offset = offset;
        peak = std::max(peak, offset + block.bytes);
        placed.insert(std::ranges::upper_bound(placed, offset, {}, [](const Block* b) { return b->offset; }), &block);
    }
    return peak;
}

std::int64_t place_apart(std::vector<Block>& blocks) {
    std::int64_t end = 0;
    for (Block& block : blocks) {
        block.offset = end;
        end += block.bytes;
    }
    return end;
}

class Planner {
  public:
    Planner(const Graph& graph, const Schedule& schedule, const std::vector<std::int64_t>& workspace_bytes, bool reuse)
        : graph_(graph), schedule_(schedule), workspace_bytes_(workspace_bytes), reuse_(reuse) {
        placement_.values.resize(graph.values().size());
        placement_.workspaces.resize(graph.nodes().size());
        placement_.first_group.assign(graph.values().size(), 0);
        placement_.last_group.assign(graph.values().size(), 0);
        block_of_.assign(graph.values().size(), -1);
    }

    Placement run(SharedLayout& shared) && {
        find_lifetimes();
        for (std::int32_t i = 0; i < count(); ++i) place_persistent({i}, shared);
        make_blocks();
        placement_.scratch_without_reuse = place_apart(apart_);
        placement_.scratch_bytes = reuse_ ? place_by_size(blocks_) : place_apart(blocks_);
        assign();
        return std::move(placement_);
    }

  private:
    std::int32_t count() const { return static_cast<std::int32_t>(graph_.values().size()); }
    static std::size_t at(ValueId id) { return static_cast<std::size_t>(id.index); }
    std::int32_t final_group() const { return static_cast<std::int32_t>(schedule_.groups.size()) - 1; }
    bool in_scratch(ValueId id) const { return lives_in_scratch(graph_.value(id).role) && !graph_.value(id).alias_of; }

    void find_lifetimes() {
        for (std::int32_t g = 0; g <= final_group(); ++g) {
            for (NodeId id : schedule_.groups[static_cast<std::size_t>(g)].nodes) {
                for (ValueId output : graph_.node(id).outputs) {
                    placement_.first_group[at(output)] = placement_.last_group[at(output)] = g;
                }
                for (ValueId input : graph_.node(id).inputs) {
                    if (input) placement_.last_group[at(input)] = g;
                }
            }
        }
        for (std::int32_t i = 0; i < count(); ++i) {
            const Value& value = graph_.value({i});
            const bool whole = value.role != Role::activation || value.keep;
            if (!whole) continue;
            placement_.last_group[at({i})] = std::max(final_group(), 0);
            if (value.role != Role::result && !value.keep) placement_.first_group[at({i})] = 0;
        }
    }

    void place_persistent(ValueId id, SharedLayout& shared) {
        const Value& value = graph_.value(id);
        if (lives_in_scratch(value.role)) return;
        const Value& storage = graph_.value(graph_.storage_of(id));
        placement_.values[at(id)] =
            shared.place(persistent_region(storage.role), storage.name, aligned(storage.desc.bytes()));
    }

    void make_blocks() {
        for (std::int32_t i = 0; i < count(); ++i) {
            if (graph_.value({i}).role == Role::input) add_block({i});
        }
        for (std::int32_t g = 0; g <= final_group(); ++g) {
            for (NodeId id : schedule_.groups[static_cast<std::size_t>(g)].nodes) add_node_blocks(id, g);
        }
    }

    void add_node_blocks(NodeId id, std::int32_t group) {
        const Node& node = graph_.node(id);
        const std::vector<OutputSpec> specs = node.op->infer(graph_, node);
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            const ValueId output = node.outputs[i];
            if (!in_scratch(output)) continue;
            const std::int32_t inherited = reusable_block(node, specs[i].may_reuse_input, output, group);
            if (inherited < 0) {
                add_block(output);
            } else {
                apart_.push_back({aligned(graph_.value(output).desc.bytes()), group, group});
                block_of_[at(output)] = inherited;
                Block& block = blocks_[static_cast<std::size_t>(inherited)];
                block.last = std::max(block.last, placement_.last_group[at(output)]);
            }
        }
        const std::int64_t bytes = workspace_bytes_[static_cast<std::size_t>(id.index)];
        if (bytes == 0) return;
        workspace_block_.emplace_back(id, blocks_.size());
        blocks_.push_back({aligned(bytes), group, group});
        apart_.push_back(blocks_.back());
    }

    /// The block of the input that the output may be written over: it dies here, nobody else reads it in this group,
    /// and it has the same size. -1 when there is none.
    std::int32_t reusable_block(const Node& node, int input, ValueId output, std::int32_t group) const {
        if (!reuse_ || input < 0) return -1;
        const ValueId source = node.input(static_cast<std::size_t>(input));
        if (!source || !in_scratch(source) || graph_.value(source).role != Role::activation) return -1;
        if (graph_.value(source).keep || graph_.value(output).keep) return -1;
        if (placement_.last_group[at(source)] != group) return -1;
        if (graph_.value(source).desc.bytes() != graph_.value(output).desc.bytes()) return -1;
        int readers = 0;
        for (NodeId other : schedule_.groups[static_cast<std::size_t>(group)].nodes) {
            readers += static_cast<int>(std::ranges::count(graph_.node(other).inputs, source));
        }
        return readers == 1 ? block_of_[at(source)] : -1;
    }

    void add_block(ValueId id) {
        block_of_[at(id)] = static_cast<std::int32_t>(blocks_.size());
        blocks_.push_back(
            {aligned(graph_.value(id).desc.bytes()), placement_.first_group[at(id)], placement_.last_group[at(id)]});
        apart_.push_back(blocks_.back());
    }

    void assign() {
        for (std::int32_t i = 0; i < count(); ++i) {
            const std::int32_t block = block_of_[at({i})];
            if (block >= 0) placement_.values[at({i})] = scratch(blocks_[static_cast<std::size_t>(block)].offset);
        }
        for (const auto& [node, block] : workspace_block_) {
            placement_.workspaces[static_cast<std::size_t>(node.index)] = scratch(blocks_[block].offset);
        }
    }
    static BufferRef scratch(std::int64_t offset) { return {Region::scratch, offset}; }

    const Graph& graph_;
    const Schedule& schedule_;
    const std::vector<std::int64_t>& workspace_bytes_;
    bool reuse_;
    Placement placement_;
    std::vector<std::int32_t> block_of_;  ///< by value
    std::vector<Block> blocks_;
    std::vector<Block> apart_;  ///< what the same values take without any sharing
    std::vector<std::pair<NodeId, std::size_t>> workspace_block_;
};

}  // namespace

BufferRef SharedLayout::place(Region region, const std::string& name, std::int64_t bytes) {
    const auto [entry, added] = entries_.try_emplace(name);
    if (added) {
        std::int64_t& end = ends_[static_cast<std::size_t>(region)];
        entry->second = {{region, end}, bytes};
        end += bytes;
    } else if (entry->second.bytes != bytes) {
        throw GraphError(
            fmt::format("'{}' has {} bytes in one plan and {} in another", name, entry->second.bytes, bytes));
    }
    return entry->second.place;
}

Placement plan_memory(const Graph& graph, const Schedule& schedule, const std::vector<std::int64_t>& workspace_bytes,
                      bool reuse, SharedLayout& shared) {
    return Planner(graph, schedule, workspace_bytes, reuse).run(shared);
}

}  // namespace causeway
