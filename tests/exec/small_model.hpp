#pragma once

#include <vector>

#include "compile/compile.hpp"
#include "exec/model_runtime.hpp"

/// The training plan of one GPT-2 block with groups that are worth several threads; its parameters are zero.
inline causeway::ModelRuntime small_model(int threads) {
    const causeway::Config config = causeway::parse_config(
        R"({"model": {"num_hidden_layers": 1, "hidden_size": 96, "num_attention_heads": 3, "vocab_size": 97},
            "data": {"source": "repeat"}, "train": {"batch_size": 4, "sequence_length": 32}})",
        "small_model");
    causeway::SharedLayout shared;
    std::vector<causeway::ExecutionPlan> plans;
    plans.push_back(causeway::compile(config, {}, shared));
    return causeway::ModelRuntime(std::move(plans), threads);
}
