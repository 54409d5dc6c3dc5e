#pragma once

#include <initializer_list>
#include <string>

#include "config/config.hpp"
#include "exec/model_runtime.hpp"
#include "support/bench.hpp"

namespace causeway::bench {

/// A GPT-2 of some size and its batch.
struct ModelSize {
    std::string name;
    std::int64_t vocab, batch, length, width, heads, layers, context;
};

/// 6 FLOPs a parameter of a matrix product and token, and attention's causal products, forward and backward.
double useful_flops(const ModelSize& model);

/// Of the packed copies of weights that the model's training plan keeps.
double packed_bytes(const ModelSize& model);

/// A training plan of the model with its memory, and the phases of one optimizer step on a batch made up here.
class TrainingStep {
  public:
    explicit TrainingStep(const ModelSize& model);
    /// Of any model and batch.
    explicit TrainingStep(const Config& config);

    /// One batch through the given phases; all of {step, update, pack} are an optimizer step.
    void run(std::initializer_list<Phase> phases);

    const ExecutionPlan& plan() { return executor().plan(); }
    ModelRuntime& runtime() { return runtime_; }

  private:
    Executor& executor() { return runtime_.executor("train"); }
    void fill_batch();

    ModelRuntime runtime_;
    std::int64_t step_ = 0;
};

}  // namespace causeway::bench
