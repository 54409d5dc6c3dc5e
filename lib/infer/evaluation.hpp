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
        bool masked = false;       ///< run() is given which tokens are there and which are padding
        DType dtype = DType::f32;  ///< f64 runs on the reference kernels
    };
    /// Parameters are zero until the caller fills runtime().parameters() and calls runtime().refresh().
    /// Throws DataError when length exceeds the model's context, CapacityError when the memory does not suffice.
    Evaluator(const Config& config, const Options& options);

    ModelRuntime& runtime() { return runtime_; }
    /// ids, labels: (B,T); logits of (b,t) are judged by labels[b,t]. `mask` (B,T), when Options::masked: 1 for a
    /// token, 0 for padding, which no token sees; positions count from the start of a row, padding included, as
    /// transformers' do without position ids. Throws DataError for an id or label outside the vocabulary or a mask of
    /// other values.
    LabelLoss run(std::span<const std::int32_t> ids, std::span<const std::int32_t> labels,
                  std::span<const std::int32_t> mask = {});

    /// (B,T,V) of the last run.
    TensorView logits();
    /// Of the last run's sum of losses (divide by LabelLoss::valid), under the parameters' names.
    std::vector<NamedTensor> gradients();

  private:
    void check_mask(std::span<const std::int32_t> mask);
    void give(Executor& executor, std::span<const std::int32_t> ids, std::span<const std::int32_t> mask);

    Config config_;
    bool masked_;
    ModelRuntime runtime_;
    Executor& loss_;
    Executor& logits_;
};

}  // namespace causeway
