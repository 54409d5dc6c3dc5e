#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "exec/executor.hpp"
#include "tensor/named_tensor.hpp"

namespace causeway {

/// A model ready to run: its plans, the memory they share, the threads, an executor a plan.
class ModelRuntime {
  public:
    /// All plans must come from one SharedLayout. threads: 0 for all; memory_limit in bytes: 0 for what there is.
    /// Throws CapacityError when the memory does not suffice. Constant tables are filled; parameters are zero.
    ModelRuntime(std::vector<ExecutionPlan> plans, int threads, std::size_t memory_limit = 0);

    /// The executor of a mode ("train", "eval", ...). Throws GraphError when there is no such plan.
    Executor& executor(std::string_view mode);
    const ExecutionPlan& plan(std::string_view mode) { return executor(mode).plan(); }
    ThreadPool& pool() { return pool_; }

    /// Parameters in the order of the model, under their names in model.safetensors; a tied one once.
    std::vector<NamedTensor> parameters();
    /// Gradients of the sum of losses ("<parameter>.grad") and what the optimizer keeps ("<parameter>.m", ".v"), for
    /// checkpoints.
    std::vector<NamedTensor> gradients();
    std::vector<NamedTensor> moments();
    std::int64_t parameter_count();

    /// Draws every parameter from its initializer: stream i of the seed is parameter i, whatever the thread count.
    void initialize(std::uint64_t seed);
    /// To be called when parameters have changed other than by this runtime's own update: repacks them for every plan.
    void refresh();

  private:
    std::vector<NamedTensor> tensors_with_role(Role role);

    std::vector<std::unique_ptr<ExecutionPlan>> plans_;
    ThreadPool pool_;
    Arena arena_;
    std::vector<Executor> executors_;
    std::vector<Executor*> packers_;  ///< whose pack phases together make every packed copy
};

}  // namespace causeway
