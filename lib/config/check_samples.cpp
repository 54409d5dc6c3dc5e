#include "config/check_samples.hpp"

#include "base/format.hpp"
#include "config/mistake.hpp"

namespace causeway::config {

void check_samples(const Config& config, const std::string& origin) {
    const TrainConfig& train = config.train;
    if (train.sample_every == 0) return;
    const auto refuse = [&](const char* why) {
        fail({"train.sample_every", origin}, fmt::format("found {}, expected 0: {}", train.sample_every, why));
    };
    if (config.data.is_task()) refuse("the tokens of a built-in task are no text");
    if (config.data.source == DataSource::tokens && config.data.tokenizer.empty()) {
        refuse("token files without data.tokenizer have no text");
    }
    if (!config.model.causal) refuse("model.causal is false, and a model whose tokens see what follows cannot write");
    if (train.sample_prompt.empty())
        fail({"train.sample_prompt", origin}, "found \"\", expected at least one character");
}

}  // namespace causeway::config
