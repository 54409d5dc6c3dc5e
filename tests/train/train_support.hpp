#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "causeway/error.hpp"
#include "config/config.hpp"
#include "data/tokens.hpp"
#include "train/trainer.hpp"

namespace causeway::train {

/// A config of the tree, with overrides.
inline Config config_file(const std::string& name, const std::vector<std::string>& overrides = {}) {
    return load_config(std::string(CAUSEWAY_SOURCE_DIR) + "/configs/" + name, overrides);
}

/// Two GPT-2 blocks small enough for a test, on the task lookback_copy.
inline Config small_gpt2(const std::vector<std::string>& overrides = {}) {
    return parse_config(R"({
        "model": {"vocab_size": 29, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 3,
                  "max_position_embeddings": 13},
        "data": {"source": "lookback_copy", "lookback": 2},
        "train": {"seed": 7, "batch_size": 4, "max_steps": 50, "learning_rate": 0.003, "weight_decay": 0.1,
                  "max_grad_norm": 1.0, "warmup_steps": 5}})",
                        "small_gpt2", overrides);
}

/// What makes small_gpt2's blocks those of MiniMind and Qwen3: RMSNorm, grouped heads of a width of their own with
/// QK-norm and rotation, SwiGLU, no biases.
inline std::vector<std::string> minimind_blocks(const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{"model.norm=rmsnorm",  "model.qk_norm=true",         "model.position_embedding=rope",
                                 "model.mlp=gated",     "model.hidden_act=silu",      "model.num_key_value_heads=1",
                                 "model.head_dim=10",   "model.intermediate_size=37", "model.attention_bias=false",
                                 "model.mlp_bias=false"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

/// The same with experts instead of the one MLP: five, of which a token goes through two, and their auxiliary loss.
inline std::vector<std::string> expert_blocks(const std::vector<std::string>& more = {}) {
    std::vector<std::string> all =
        minimind_blocks({"model.num_experts=5", "model.num_experts_per_tok=2", "model.router_aux_loss_coef=0.01"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

/// Batches that a test wrote down: batch i is rows i*B.. of `inputs` and `targets`, which are repeated without end when
/// `epoch_rows` is 0.
class WrittenRows final : public BatchSource {
  public:
    WrittenRows(std::int64_t batch_size, std::int64_t sequence_length, std::vector<std::int32_t> inputs,
                std::vector<std::int32_t> targets, std::int64_t epoch_rows = 0)
        : BatchSource(batch_size, sequence_length),
          inputs_(std::move(inputs)),
          targets_(std::move(targets)),
          epoch_rows_(epoch_rows) {}

    std::int64_t rows_per_epoch() const override { return epoch_rows_; }

  private:
    void fill_row(std::int64_t row, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const override {
        const std::size_t length = inputs.size(), rows = inputs_.size() / length;
        const std::size_t first = static_cast<std::size_t>(row) % rows * length;
        std::copy_n(inputs_.begin() + static_cast<std::ptrdiff_t>(first), length, inputs.begin());
        std::copy_n(targets_.begin() + static_cast<std::ptrdiff_t>(first), length, targets.begin());
    }

    std::vector<std::int32_t> inputs_, targets_;
    std::int64_t epoch_rows_;
};

/// Options that train on written rows and have no validation set.
inline TrainerOptions on_rows(const Config& config, std::vector<std::int32_t> inputs, std::vector<std::int32_t> targets,
                              DType dtype = DType::f32) {
    TrainerOptions options;
    options.dtype = dtype;
    options.data.train = std::make_unique<WrittenRows>(config.train.batch_size, config.train.sequence_length,
                                                       std::move(inputs), std::move(targets));
    return options;
}

/// The elements of all tensors, one after the other, as doubles.
inline std::vector<double> values_of(const std::vector<NamedTensor>& tensors) {
    std::vector<double> values;
    for (const NamedTensor& tensor : tensors) {
        for (std::int64_t i = 0; i < tensor.view.desc.stored_elements; ++i) {
            values.push_back(tensor.view.desc.dtype == DType::f64 ? tensor.view.as<double>()[i]
                                                                  : static_cast<double>(tensor.view.as<float>()[i]));
        }
    }
    return values;
}

inline NamedTensor find(const std::vector<NamedTensor>& tensors, const std::string& name) {
    for (const NamedTensor& tensor : tensors) {
        if (tensor.name == name) return tensor;
    }
    throw Error("no tensor " + name);
}

/// What training leaves behind, to be compared bit for bit.
struct Trace {
    std::vector<double> losses, norms, parameters, moments;
    bool operator==(const Trace&) const = default;
};

inline Trace train_steps(const Config& config, std::int64_t steps, TrainerOptions options = {}) {
    Trainer trainer(config, std::move(options));
    Trace trace;
    for (std::int64_t i = 0; i < steps; ++i) {
        const StepReport report = trainer.step();
        trace.losses.push_back(report.loss);
        trace.norms.push_back(report.grad_norm);
    }
    trace.parameters = values_of(trainer.parameters());
    trace.moments = values_of(trainer.moments());
    return trace;
}

}  // namespace causeway::train
