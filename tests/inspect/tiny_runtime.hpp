#pragma once

#include <utility>
#include <vector>

#include "compile/compile.hpp"
#include "exec/model_runtime.hpp"
#include "inspect/tiny_config.hpp"

/// The training plan of a resolved config, ready to run, with parameters drawn.
struct TinyRuntime {
    explicit TinyRuntime(const causeway::Config& config, int threads) : runtime(plans_of(config), threads) {
        runtime.initialize(1);
    }

    /// A training step of one micro-batch.
    void train(std::int64_t step) {
        causeway::RunArgs args;
        args.step = step;
        for (const auto phase : {causeway::Phase::step, causeway::Phase::update, causeway::Phase::pack}) {
            runtime.executor("train").run(phase, args);
        }
    }

    causeway::ModelRuntime runtime;

  private:
    static std::vector<causeway::ExecutionPlan> plans_of(const causeway::Config& config) {
        causeway::SharedLayout layout;
        std::vector<causeway::ExecutionPlan> plans;
        plans.push_back(causeway::compile(config, {}, layout));
        return plans;
    }
};
