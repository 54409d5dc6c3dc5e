#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"
#include "train/run_checkpoints.hpp"
#include "train/train_support.hpp"

namespace causeway::train {

inline std::string some_text(const TemporaryFolder& folder, const std::string& name = "text.txt", int salt = 0) {
    std::string text;
    for (int i = 0; i < 420; ++i) text.push_back(static_cast<char>(32 + (i * i + 7 * i + salt) % 90));
    return folder.write(name, text);
}

/// Everything that a resume has to get right at once: dropout, accumulation, shuffled epochs of 7 steps with a tail,
/// a schedule, clipping.
inline Config everything(const std::string& text, const std::vector<std::string>& more = {}) {
    std::vector<std::string> overrides{"data.path=" + text};
    overrides.insert(overrides.end(), more.begin(), more.end());
    return parse_config(R"({
        "model": {"vocab_size": 256, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
                  "max_position_embeddings": 10, "attention_dropout": 0.1, "embd_pdrop": 0.1, "resid_pdrop": 0.1},
        "data": {"source": "text", "sampling": "epoch"},
        "train": {"seed": 11, "batch_size": 2, "gradient_accumulation_steps": 3, "max_steps": 20,
                  "learning_rate": 0.01, "weight_decay": 0.1, "max_grad_norm": 0.5, "warmup_steps": 3, "eval_every": 4}
        })",
                        "everything", overrides);
}

inline std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

/// A trainer after some steps, saved after each of them.
inline void save_steps(const RunFolder& run, Trainer& trainer, int steps) {
    RunCheckpoints checkpoints(run, trainer);
    for (int i = 0; i < steps; ++i) {
        trainer.step();
        checkpoints.save("");
    }
}

}  // namespace causeway::train
