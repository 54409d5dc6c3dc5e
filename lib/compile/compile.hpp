#pragma once

#include <optional>
#include <string_view>

#include "base/isa.hpp"
#include "compile/memory_plan.hpp"
#include "config/config.hpp"
#include "plan/execution_plan.hpp"

namespace causeway {

/// What a plan is for.
enum class Mode {
    train,    ///< loss, gradients, optimizer
    eval,     ///< loss only
    logits,   ///< value "logits" (B,T,V)
    prefill,  ///< value "logits" (B,1,V) of row RunArgs::position
    inspect,  ///< "logits", with explicit attention and every intermediate kept in a buffer of its own
};
std::string_view to_string(Mode mode);

struct CompileOptions {
    Mode mode = Mode::train;
    std::int64_t batch = 0;            ///< 0: train.batch_size
    std::int64_t sequence_length = 0;  ///< 0: train.sequence_length
    DType dtype = DType::f32;          ///< f64 runs on the reference kernels
    bool fuse = true;                  ///< false: one step an op whatever runtime.fuse_* say, to compare with
    std::optional<Isa> isa;            ///< of an f32 plan; none: choose_isa(runtime.isa)
    bool balance_experts = false;      ///< eval: the experts' auxiliary loss too, as in train
    bool keep_values = false;          ///< every value stays readable, in a buffer of its own, as in inspect
    std::optional<bool> dropout;       ///< as the config says, or not at all; none: in mode train only
    /// Value "attention_mask", i32 (B,T), is an input: 0 hides a token from all others, as padding on either side.
    /// Positions count from the row's first token, padding included, as HuggingFace's do without position_ids.
    bool attention_mask = false;
    Shape mask;  ///< of input "mask", u8 (T,T) or (1 or B, 1 or H, T, T), 0 hides a key from a query; none when empty
};

/// Compiles one mode of a model: builds the graph, differentiates, fuses, schedules, places and lowers it. The
/// parameter and state regions of all plans made with one `shared` are the same memory. Throws ConfigError, GraphError
/// or CapacityError (an ISA the CPU lacks). O(nodes^2), about a millisecond a hundred nodes.
ExecutionPlan compile(const Config& config, const CompileOptions& options, SharedLayout& shared);

}  // namespace causeway
