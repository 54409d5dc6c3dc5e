#include "infer/generation_defaults.hpp"

#include "io/generation_config.hpp"
#include "io/run_folder.hpp"

namespace causeway::infer {
namespace {

constexpr std::int64_t transformers_top_k = 50;

void apply(const GenerationConfig& file, GenerationOptions& options) {
    SamplingOptions& sampling = options.sampling;
    sampling.temperature = file.do_sample ? file.temperature.value_or(1.0) : 0.0;
    sampling.top_k = file.top_k.value_or(transformers_top_k);
    sampling.top_p = file.top_p.value_or(1.0);
    sampling.min_p = file.min_p.value_or(0.0);
    sampling.repetition_penalty = file.repetition_penalty.value_or(1.0);
    options.max_new_tokens = file.max_new_tokens.value_or(options.max_new_tokens);
    options.eos_token_ids = file.eos_token_id;
}

}  // namespace

GenerationOptions default_generation(const Config& config, const std::string& folder) {
    GenerationOptions options;
    if (config.model.model_type.starts_with("minimind")) {
        options.sampling.temperature = 0.85;
        options.sampling.top_p = 0.85;
        options.sampling.top_k = 50;
        options.eos_token_ids = {2};
    }
    if (const auto file = load_generation_config(RunFolder{folder}.generation())) apply(*file, options);
    return options;
}

}  // namespace causeway::infer
