#pragma once

namespace causeway {

/// What value "update_factors" of a plan holds after its update phase, by index. The optimizers' ops read it.
enum UpdateFactor {
    update_scale,  ///< multiplies the summed gradient; NaN: the update was left out
    update_bias1,  ///< 1 - beta1^step
    update_bias2,  ///< 1 - beta2^step
    update_factor_count
};

}  // namespace causeway
