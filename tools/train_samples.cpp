#include "train_samples.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text.hpp"

namespace causeway::cli {
namespace {

std::vector<std::int32_t> prompt_of(const Config& config) {
    return tokens_of(&config.train.sample_prompt, nullptr, "train.sample_prompt");
}

infer::DecoderOptions decoder_options(const Config& config) {
    constexpr std::int64_t most_at_once = 512, least = 16;
    const auto prompt = static_cast<std::int64_t>(prompt_of(config).size());
    infer::DecoderOptions options;
    options.capacity = std::min(config.model.max_position_embeddings, prompt + config.train.sample_tokens);
    options.chunk = std::clamp(prompt, least, most_at_once);
    return options;
}

}  // namespace

void TrainSamples::prepare(const Config& config, train::TrainerOptions& options) {
    if (config.train.sample_every == 0) return;
    options.companions = [&config](SharedLayout& layout) {
        return infer::decoder_plans(config, decoder_options(config), layout);
    };
}

TrainSamples::TrainSamples(train::Trainer& trainer) : trainer_(trainer) {
    const Config& config = trainer.config();
    if (config.train.sample_every == 0) return;
    prompt_ = prompt_of(config);
    generator_.emplace(config, decoder_options(config), trainer.runtime());
    generator_->check_prompt(prompt_);
}

std::optional<std::string> TrainSamples::after_step(std::int64_t step) {
    const TrainConfig& train = trainer_.config().train;
    if (!generator_ || step % train.sample_every != 0) return std::nullopt;
    infer::GenerationOptions options;
    options.max_new_tokens = train.sample_tokens;
    options.token_text = byte_text;
    options.sampling.seed = train.seed;
    options.first_sequence = static_cast<std::uint64_t>(step);
    generator_->refresh();
    const infer::Continuation sample = generator_->generate(std::span(&prompt_, 1), options).front();
    const nlohmann::ordered_json line{
        {"step", step}, {"prompt", train.sample_prompt}, {"text", sample.text}, {"ids", sample.tokens}};
    if (lines_) lines_->write(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return sample.text;
}

}  // namespace causeway::cli
