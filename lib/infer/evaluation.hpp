#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "exec/model_runtime.hpp"
#include "tensor/named_tensor.hpp"

namespace causeway {

/// A matrix of token ids or labels, row-major.
struct IdMatrix {
    std::int64_t rows = 0, cols = 0;
    std::vector<std::int32_t> ids;
};

/// Reads (B,T) int64 or int32 from a .npy file. Throws IoError for another shape or dtype, DataError, naming value and
/// position, for what does not fit 32 bits.
IdMatrix read_id_matrix(const std::string& path);

/// The labels that make each token predict the next: ids shifted left by one, -100 (not counted) at each row's end.
std::vector<std::int32_t> next_token_labels(const IdMatrix& ids);

/// The mean loss over the labels that count.
struct LabelLoss {
    double loss = 0;         ///< 0 when none counts
    std::int64_t valid = 0;  ///< labels that are not -100
};

/// What a model computes for one batch of a fixed shape: logits, loss, gradients. Dropout is off and nothing is added
/// to the cross-entropy.
class Evaluator {
  public:
    struct Options {
        std::int64_t batch = 1, length = 1;
        bool gradients = false;
        DType dtype = DType::f32;  ///< f64 runs on the reference kernels
    };
    /// Parameters are zero until the caller fills runtime().parameters() and calls runtime().refresh().
    /// Throws DataError when length exceeds the model's context, CapacityError when the memory does not suffice.
    Evaluator(const Config& config, const Options& options);

    ModelRuntime& runtime() { return runtime_; }
    /// ids, labels: (B,T); logits of (b,t) are judged by labels[b,t]. Throws DataError for one outside the vocabulary.
    LabelLoss run(std::span<const std::int32_t> ids, std::span<const std::int32_t> labels);

    /// (B,T,V) of the last run.
    TensorView logits();
    /// Of the last run's sum of losses (divide by LabelLoss::valid), under the parameters' names.
    std::vector<NamedTensor> gradients();

  private:
    Config config_;
    ModelRuntime runtime_;
    Executor& loss_;
    Executor& logits_;
};

}  // namespace causeway
