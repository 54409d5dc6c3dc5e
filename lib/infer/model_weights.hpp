#pragma once

#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "config/config.hpp"
#include "tensor/named_tensor.hpp"

namespace causeway {

/// The parameters of a model in memory (f32), with nothing to run them: for converting checkpoints.
class ModelWeights {
  public:
    /// Zeros, in the order of the model. Throws ConfigError, CapacityError.
    explicit ModelWeights(const Config& config);

    std::span<const NamedTensor> tensors() const { return tensors_; }
    std::int64_t count() const;

  private:
    std::vector<Buffer> buffers_;
    std::vector<NamedTensor> tensors_;
};

}  // namespace causeway
