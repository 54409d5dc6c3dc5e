#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace causeway::cli {

/// What `causeway eval` is asked to evaluate a model on.
struct EvalData {
    std::string model;      ///< a run, a folder from HuggingFace or an llm.c file
    std::string path;       ///< empty: what the run was validated on
    std::string source;     ///< data.source; empty: by the name of the path
    std::string tokenizer;  ///< empty: the model's own
    std::int64_t stride = 0, batch_size = 0, sequence_length = 0;  ///< 0: as the config says
    bool json = false;
    std::vector<std::string> overrides;
};

/// Prints loss, perplexity, bits per byte, and for built-in tasks accuracy; returns the exit code. Throws Error.
int eval_on_data(const EvalData& asked);

}  // namespace causeway::cli
