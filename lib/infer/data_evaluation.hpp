#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "data/open_data.hpp"
#include "exec/model_runtime.hpp"

namespace causeway {

/// How well a model predicts a data set.
struct DataLoss {
    double loss = 0;                      ///< mean cross-entropy in nats over all targets that count; 0 when none does
    std::int64_t targets = 0;             ///< that count
    std::optional<std::int64_t> bytes;    ///< of text that these stand for; none where the tokens have no text
    std::optional<double> accuracy;       ///< built-in tasks: share of the targets that have the largest logit
    std::optional<double> bits_per_byte;  ///< the whole loss in bits by the bytes; none without bytes
    double seconds = 0;

    double perplexity() const;  ///< exp(loss)
};

/// Runs a model over the validation rows of a config's data.
class DataEvaluation {
  public:
    /// Opens the validation data (see open_validation) and compiles the plans. Takes a resolved config. Parameters are
    /// zero until the caller fills runtime().parameters() and calls runtime().refresh(). Throws what opening the data
    /// throws, and CapacityError when the memory does not suffice.
    explicit DataEvaluation(const Config& config);

    ModelRuntime& runtime() { return runtime_; }
    /// What is evaluated on, for people.
    const std::string& description() const { return data_.description; }

    /// After every batch: batches done and all of them; false ends the run.
    using Progress = std::function<bool(std::int64_t done, std::int64_t all)>;
    /// Nothing when `progress` ended it. Throws DataError for a token outside the vocabulary, IoError for a file that
    /// has become shorter, NumericError, naming row and op, for a loss that is not finite.
    std::optional<DataLoss> run(const Progress& progress = {});

  private:
    void give_batch(Executor& executor);
    double run_batch(std::int64_t batch);
    [[noreturn]] void throw_not_finite(std::int64_t batch, double loss);

    Config config_;
    DataSources data_;
    ModelRuntime runtime_;
    std::vector<std::int32_t> tokens_, targets_;  ///< the current batch (B,T)
};

/// The config that evaluates a model on other data than its own: all of `path` is validated on, in windows that follow
/// each other, and nothing is trained on. Fields of section "data" that mean nothing to `source` get their defaults.
/// Throws ConfigError.
Config evaluation_config(Config config, const std::string& path, DataSource source);

}  // namespace causeway
