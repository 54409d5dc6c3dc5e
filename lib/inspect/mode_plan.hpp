#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "plan/execution_plan.hpp"

namespace causeway {

/// The names of the modes a model can be compiled for: train, eval, logits, prefill, decode, inspect.
std::vector<std::string> mode_names();

/// The plan of one mode of a model, to be looked at: nothing is reserved. Batches are those of section "train"; prefill
/// reads one sequence as long as the context, decode one token after it. Throws ConfigError for a name that is no mode.
ExecutionPlan mode_plan(const Config& config, std::string_view mode);

}  // namespace causeway
