#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "tensor/named_tensor.hpp"

namespace causeway {

struct GradientCheckOptions {
    std::int64_t batch = 2;            ///< sequences; few suffice, each scalar costs two forward passes
    std::int64_t sequence_length = 0;  ///< 0: min(6, model.max_position_embeddings)
    std::uint64_t seed = 1;
    std::int64_t every_scalar_up_to = 20'000;  ///< parameters; above: samples and a random direction a tensor
    std::int64_t samples = 64;                 ///< scalars a tensor
    double relative_tolerance = 1e-6;
    double absolute_tolerance = 1e-9;  ///< times max(1, loss): what rounding leaves of a difference of two losses
};

/// How the gradient of one tensor compares.
struct TensorCheck {
    std::string name;
    std::int64_t elements = 0;
    std::int64_t checked = 0;        ///< scalars
    bool direction = false;          ///< also along a random direction through the whole tensor
    double largest_gradient = 0;     ///< by magnitude
    double absolute_error = 0;       ///< largest |analytic - numeric|
    double relative_error = 0;       ///< largest error / max(|analytic|, |numeric|) where either exceeds 1e-4
    double tolerances = 0;           ///< largest error / (absolute + relative * |numeric|); passes up to 1
    std::int64_t worst_element = 0;  ///< where that was; -1: along the direction
    bool passed() const { return tolerances <= 1; }
};

struct GradientCheck {
    double loss = 0;  ///< sum over the batch; with experts and their auxiliary loss
    std::int64_t parameters = 0;
    std::vector<TensorCheck> tensors;
    bool passed() const;
};

/// Compares the hand-derived gradients of a model with central differences of its loss. Plans run in double on the
/// plain-loop kernels. Parameters are drawn wider than a fresh model's, so that no gradient is next to 0, and tokens
/// and targets (a few of them ignored) are random, so that no data file is needed.
class GradientChecker {
  public:
    explicit GradientChecker(const Config& config, const GradientCheckOptions& options = {});
    ~GradientChecker();

    /// The analytic gradients, "<parameter>.grad", in double.
    std::vector<NamedTensor> gradients();
    /// Two forward passes a checked scalar.
    GradientCheck compare();

  private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

/// GradientChecker(config, options).compare()
GradientCheck check_gradients(const Config& config, const GradientCheckOptions& options = {});

std::string gradient_check_text(const GradientCheck& check);

}  // namespace causeway
