#include "causeway/generator.hpp"

#include <utility>

#include "infer/generation_defaults.hpp"
#include "infer/generator.hpp"

namespace causeway {
namespace {

infer::GenerationOptions options_of(const GenerationSettings& settings) {
    infer::GenerationOptions options;
    options.max_new_tokens = settings.max_new_tokens;
    options.sampling = {settings.temperature,        settings.top_k, settings.top_p, settings.min_p,
                        settings.repetition_penalty, settings.seed};
    options.eos_token_ids = settings.eos_token_ids;
    options.on_token = settings.on_token;
    return options;
}

}  // namespace

struct Generator::Impl {
    Impl(const std::string& path, std::int64_t rows, const std::vector<std::string>& overrides)
        : folder(path), generator(infer::Generator::from_run(path, overrides, {.batch = rows})) {}

    std::string folder;
    infer::Generator generator;
};

Generator::Generator(const std::string& folder, std::int64_t rows, const std::vector<std::string>& overrides)
    : impl_(std::make_unique<Impl>(folder, rows, overrides)) {}
Generator::~Generator() = default;
Generator::Generator(Generator&& other) noexcept = default;
Generator& Generator::operator=(Generator&& other) noexcept = default;

GenerationSettings Generator::defaults() const {
    const infer::GenerationOptions options = infer::default_generation(impl_->generator.config(), impl_->folder);
    const infer::SamplingOptions& sampling = options.sampling;
    GenerationSettings settings;
    settings.max_new_tokens = options.max_new_tokens;
    settings.temperature = sampling.temperature;
    settings.top_k = sampling.top_k;
    settings.top_p = sampling.top_p;
    settings.min_p = sampling.min_p;
    settings.repetition_penalty = sampling.repetition_penalty;
    settings.eos_token_ids = options.eos_token_ids;
    return settings;
}

std::vector<std::int32_t> Generator::generate(std::span<const std::int32_t> prompt,
                                              const GenerationSettings& settings) {
    return impl_->generator.generate(prompt, options_of(settings));
}

std::vector<std::vector<std::int32_t>> Generator::generate(std::span<const std::vector<std::int32_t>> prompts,
                                                           const GenerationSettings& settings) {
    std::vector<std::vector<std::int32_t>> tokens;
    for (infer::Continuation& row : impl_->generator.generate(prompts, options_of(settings))) {
        tokens.push_back(std::move(row.tokens));
    }
    return tokens;
}

std::span<const float> Generator::logits(std::span<const std::int32_t> ids) {
    return impl_->generator.next_logits(ids);
}

}  // namespace causeway
