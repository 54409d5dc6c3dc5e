#pragma once

#include <array>
#include <string_view>

namespace causeway {

/// What a value is for, which decides where the memory planner puts it.
enum class Role {
    input,       ///< tokens and targets, written by the caller before a run
    parameter,   ///< learned (or frozen) weights
    constant,    ///< tables computed once from the config, such as sinusoidal positions
    packed,      ///< a parameter in the layout a kernel reads
    gradient,    ///< of a parameter; stays until the optimizer has used it
    state,       ///< optimizer moments
    cache,       ///< keys and values of the tokens read so far: stays from run to run
    activation,  ///< anything between two nodes
    result,      ///< read by the caller after a run: loss, logits
};

constexpr std::string_view to_string(Role role) {
    constexpr std::array<std::string_view, 9> names{"input", "parameter", "constant",   "packed", "gradient",
                                                    "state", "cache",     "activation", "result"};
    return names[static_cast<std::size_t>(role)];
}

}  // namespace causeway
