#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "exec/executor.hpp"
#include "tensor/named_tensor.hpp"

namespace causeway {

/// The same number; a NaN without its sign, which tells nothing and would be printed.
double without_nan_sign(double value);

/// An element that is NaN or infinite.
struct BadElement {
    std::int64_t index = 0;  ///< into the stored elements
    double value = 0;
};

/// The first one of an f32 or f64 tensor; none for other element types. O(elements).
std::optional<BadElement> first_not_finite(const TensorView& view);

/// Where a run stopped being finite.
struct NotFinite {
    std::int32_t node = 0;    ///< of the plan: the first one whose output is not finite
    std::int32_t output = 0;  ///< index into the plan's values
    BadElement element;
    std::int32_t parameter = -1;  ///< one of the node's parameters that is not finite itself; -1: they all are
    BadElement parameter_element;
};

/// Runs a phase once more, looking at what each node wrote as soon as it has. The inputs must be in place, as for
/// Executor::run, and what the phase writes is written. Costs the run and a pass over every output; allocates.
std::optional<NotFinite> find_not_finite(Executor& executor, Phase phase, const RunArgs& args);

/// "'h.0.mlp.fc' (linear) is the first to give a value that is not finite, nan at element 5 of (4, 13, 96); its
/// parameter 'h.0.mlp.fc.weight' is nan at element 7".
std::string describe(const ExecutionPlan& plan, const NotFinite& place);

}  // namespace causeway
