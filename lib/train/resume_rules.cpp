#include "train/resume_rules.hpp"

#include <algorithm>
#include <string_view>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "config/differences.hpp"
#include "train/lr_schedule.hpp"

namespace causeway::train {
namespace {

/// A field that may change, and what follows from it; null: nothing that the results show.
struct Rule {
    std::string_view field;
    const char* consequence = nullptr;
};

constexpr const char* other_rounding = "results differ in rounding from here on";
constexpr const char* same_data = "its content is compared by fingerprint";
constexpr const char* other_end = "where the run ends";
constexpr const char* other_guard = "from here on";

constexpr Rule rules[] = {
    {"data.path", same_data},
    {"data.mixture", same_data},
    {"data.tokenizer", same_data},
    {"data.validation_path", same_data},
    {"train.max_steps", other_end},
    {"train.max_epochs", other_end},
    {"train.max_tokens", other_end},
    {"train.max_time_s", other_end},
    {"train.on_non_finite", other_guard},
    {"train.on_spike", other_guard},
    {"train.spike_factor", other_guard},
    {"train.recompute"},
    {"train.log_every"},
    {"train.eval_every"},
    {"train.checkpoint_every"},
    {"train.keep_checkpoints"},
    {"train.sample_every"},
    {"train.sample_prompt"},
    {"train.sample_tokens"},
    {"train.report"},
    {"train.tensorboard"},
    {"runtime.threads"},
    {"runtime.memory_reuse"},
    {"runtime.memory_limit_mb"},
    {"runtime.isa", other_rounding},
    {"runtime.attention", other_rounding},
    {"runtime.fuse_loss", other_rounding},
    {"runtime.fuse_epilogue", other_rounding},
    {"runtime.fuse_norm_residual", other_rounding},
    {"runtime.fuse_gradient_norm", other_rounding},
};

std::string text_of(const FieldDifference& difference, const Rule& rule, const Config& now) {
    std::string text = fmt::format("{} {} -> {}", difference.field, difference.before, difference.after);
    if (rule.consequence != nullptr) text += fmt::format(": {}", rule.consequence);
    if (rule.consequence == other_end && needs_end(now.train.lr_schedule)) {
        text += "; the learning rates of the schedule follow the new length from here on";
    }
    return text;
}

}  // namespace

std::vector<std::string> resume_changes(const Config& saved, const Config& now) {
    std::vector<std::string> changes;
    for (const FieldDifference& difference : differences(saved, now)) {
        const Rule* rule = std::ranges::find(rules, difference.field, &Rule::field);
        if (rule == std::end(rules)) {
            throw ConfigError(
                fmt::format("{}: found {}, expected {} as in the checkpoint: a run that is resumed cannot change it; "
                            "--init-from starts another run from its weights",
                            difference.field, difference.after, difference.before));
        }
        changes.push_back(text_of(difference, *rule, now));
    }
    return changes;
}

}  // namespace causeway::train
