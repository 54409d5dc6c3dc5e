#include "train_samples.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "causeway/error.hpp"
#include "io/step_lines.hpp"
#include "text.hpp"

namespace causeway::cli {
namespace {

infer::DecoderOptions decoder_options(const Config& config, std::size_t prompt_size) {
    constexpr std::int64_t least_at_once = 16, most_at_once = 512;
    const auto prompt = static_cast<std::int64_t>(prompt_size);
    infer::DecoderOptions options;
    options.capacity = std::min(config.model.max_position_embeddings, prompt + config.train.sample_tokens);
    options.chunk = std::clamp(prompt, least_at_once, most_at_once);
    return options;
}

}  // namespace

TrainSamples::TrainSamples(const Config& config, train::TrainerOptions& options) : config_(config) {
    if (config.train.sample_every == 0) return;
    tokenizer_ = open_tokenizer(config.data.tokenizer);
    tokenizer_->encode(config.train.sample_prompt, prompt_);
    if (prompt_.empty()) throw DataError("train.sample_prompt: has no tokens, expected at least one");
    decoder_ = decoder_options(config, prompt_.size());
    options.companions = [this](SharedLayout& layout) { return infer::decoder_plans(config_, decoder_, layout); };
}

void TrainSamples::attach(train::Trainer& trainer) {
    if (config_.train.sample_every == 0) return;
    generator_.emplace(config_, decoder_, trainer.runtime());
    generator_->check_prompt(prompt_);
}

void TrainSamples::open(const std::string& path, std::int64_t step) {
    if (step > 0) causeway::cut_after(path, step);
    lines_.emplace(path, step > 0 ? AppendFile::Mode::append : AppendFile::Mode::truncate);
}

void TrainSamples::cut_after(std::int64_t step) {
    if (!lines_) return;
    const std::string path = lines_->path();
    causeway::cut_after(path, step);  // makes another file of that name
    lines_.emplace(path, AppendFile::Mode::append);
}

std::optional<std::string> TrainSamples::after_step(std::int64_t step) {
    const TrainConfig& train = config_.train;
    if (!generator_ || step % train.sample_every != 0) return std::nullopt;
    infer::GenerationOptions options;
    options.max_new_tokens = train.sample_tokens;
    options.sampling.seed = train.seed;
    options.first_sequence = static_cast<std::uint64_t>(step);
    generator_->refresh();
    const std::vector<std::int32_t> tokens = generator_->generate(prompt_, options);
    std::string text = text_of(tokens);
    const nlohmann::ordered_json line{{"step", step}, {"prompt", train.sample_prompt}, {"text", text}, {"ids", tokens}};
    if (lines_) lines_->write_line(line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    return text;
}

std::string TrainSamples::text_of(const std::vector<std::int32_t>& tokens) const {
    std::string text;
    for (const std::int32_t token : tokens) text += token_text(*tokenizer_, token);
    return text;
}

}  // namespace causeway::cli
