#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace causeway {

/// The size of the gradient in one part of a model: "embedding", "layer 0", ..., "head".
struct PartNorm {
    std::string part;
    double norm = 0;  ///< L2, of the mean loss's gradient
};

struct GradientNorms {
    double loss = 0;  ///< mean over the valid targets
    std::vector<PartNorm> parts;
};

/// The gradient of a model as training would initialise it, on random tokens and targets of the config's batch (at most
/// 4 x 64), without dropout. Throws CapacityError when the memory does not suffice.
GradientNorms initial_gradient_norms(const Config& config);

/// Those of the pre- and of the post-norm order of one config, side by side; nothing but a line that says so when
/// model.norm is none.
std::string gradient_norms_text(const Config& config);

}  // namespace causeway
