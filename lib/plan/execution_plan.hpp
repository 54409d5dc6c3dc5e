#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/isa.hpp"
#include "base/phase.hpp"
#include "tensor/initializer.hpp"
#include "tensor/role.hpp"
#include "tensor/tensor_desc.hpp"

namespace causeway {

/// The three stretches of memory that a model's plans run in. All modes share the first two.
enum class Region {
    parameters,  ///< weights, constant tables and packed copies
    state,       ///< gradients, optimizer moments, cached keys and values
    scratch,     ///< inputs, activations, workspaces, results: reused as values die
};
inline constexpr std::size_t region_count = 3;

/// Where a value lies: a byte offset in a region. A default one stands for an absent value and resolves to null.
struct BufferRef {
    Region region = Region::scratch;
    std::int64_t offset = -1;
    explicit operator bool() const { return offset >= 0; }
};

/// What may change from one run of a plan to the next.
struct RunArgs {
    std::int64_t step = 1;     ///< optimizer step, from 1: Adam's bias correction, and what dropout draws anew
    double learning_rate = 0;  ///< of this update
    double valid_tokens = 1;   ///< targets that count, over the whole accumulation window
    /// An update is left out when the norm of the mean loss's gradient is above this.
    double norm_limit = std::numeric_limits<double>::infinity();
    bool accumulate = false;     ///< gradients add to those of earlier micro-batches instead of replacing them
    std::uint64_t seed = 0;      ///< of the counter-based random numbers
    std::int64_t first_row = 0;  ///< row of the whole step's batch that is row 0 here: micro-batches come one by one
};

/// What a step sees while it runs: the bases of the regions and the run's arguments.
struct RunContext {
    std::array<std::byte*, region_count> bases{};
    RunArgs args;

    template <class T>
    T* at(BufferRef ref) const {
        return ref ? reinterpret_cast<T*>(bases[static_cast<std::size_t>(ref.region)] + ref.offset) : nullptr;
    }
};

/// Runs tiles [begin, end) of a step. Any split of the tiles over calls and threads gives the same bits.
using TileFunction = std::function<void(const RunContext& context, std::int64_t begin, std::int64_t end)>;

/// One kernel call over a number of independent tiles.
struct Step {
    std::string name;  ///< of the node, with the stage where a node has several
    std::string op;
    std::int32_t node = -1;  ///< index into the plan's nodes
    std::int64_t tiles = 1;
    double flops = 0;
    double bytes = 0;
    double predicted_seconds = 0;  ///< on one core
    TileFunction run;
};

/// Steps without dependencies between them: what the executor runs between two joins.
struct StepGroup {
    std::int32_t first_step = 0;
    std::int32_t step_count = 0;
    std::int64_t tiles = 0;
    double predicted_seconds = 0;  ///< on one core
    bool parallel = false;         ///< worth sharing with threads that are there already
};

/// A value with its place and the groups it is alive in (inclusive).
struct PlannedValue {
    std::string name;
    Role role = Role::activation;
    TensorDesc desc;
    BufferRef place;
    std::int32_t first_group = 0;
    std::int32_t last_group = 0;
    std::int32_t storage = -1;  ///< index of the oldest version in the same memory; its own when there is none
    bool trainable = false;
    Initializer initializer;  ///< of parameters and constants
    bool kept = false;        ///< readable after the run
};

/// A node as a plan remembers it, for dumps, traces and error messages.
struct PlannedNode {
    std::string name;
    std::string op;
    std::string summary;  ///< what the op does, in a line
    std::string attributes;
    std::vector<std::int32_t> inputs;  ///< indices into values, -1 for an absent one
    std::vector<std::int32_t> outputs;
    std::int32_t group = 0;                        ///< schedule group
    std::int32_t first_group = 0, last_group = 0;  ///< the node's step groups
    BufferRef workspace;
    std::int64_t workspace_bytes = 0;
};

/// Memory of a plan in bytes.
struct MemoryPlan {
    std::array<std::int64_t, region_count> region_bytes{};
    std::int64_t scratch_without_reuse = 0;  ///< what scratch would take with a buffer for each value
    std::int64_t total() const { return region_bytes[0] + region_bytes[1] + region_bytes[2]; }
};

/// The groups of one phase (pack, step, update) as a range of ExecutionPlan::groups.
struct PhaseRange {
    std::int32_t first_group = 0;
    std::int32_t group_count = 0;
    bool parallel = false;  ///< worth waking other threads for
};

/// The complete, fixed list of what a mode of a model runs, with every buffer placed.
struct ExecutionPlan {
    std::string mode;
    DType dtype = DType::f32;  ///< of activations and parameters
    Isa isa = Isa::reference;
    bool memory_reuse = true;
    std::vector<PlannedValue> values;
    std::vector<PlannedNode> nodes;
    std::vector<Step> steps;
    std::vector<StepGroup> groups;
    std::array<PhaseRange, all_phases.size()> phases{};  ///< by Phase
    MemoryPlan memory;

    /// Index of the first value of that name. Throws GraphError, naming it, when there is none.
    std::int32_t index_of(std::string_view name) const;
    const PlannedValue& value(std::string_view name) const { return values[static_cast<std::size_t>(index_of(name))]; }
    bool has(std::string_view name) const;
    /// Indices of all values with that role, in order.
    std::vector<std::int32_t> with_role(Role role) const;
    /// Sum of the steps' FLOPs of a phase.
    double flops(Phase phase) const;
    const PhaseRange& range(Phase phase) const { return phases[static_cast<std::size_t>(phase)]; }
};

}  // namespace causeway
