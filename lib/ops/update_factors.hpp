#pragma once

namespace causeway::ops {

/// What update_factors makes for adamw, by index.
enum UpdateFactor {
    update_scale,  ///< multiplies the summed gradient; NaN when the norm is not finite: the update is then left out
    update_bias1,  ///< 1 - beta1^step
    update_bias2,  ///< 1 - beta2^step
    update_factor_count
};

}  // namespace causeway::ops
