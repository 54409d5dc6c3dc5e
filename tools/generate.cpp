#include <algorithm>
#include <memory>
#include <optional>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "command.hpp"
#include "generate_output.hpp"
#include "infer/generation_defaults.hpp"
#include "infer/generator.hpp"
#include "io/run_folder.hpp"
#include "io/tokenizer/tokenizer_config.hpp"
#include "output.hpp"
#include "prompts.hpp"
#include "stop_signal.hpp"
#include "text.hpp"
#include "tokenizing.hpp"

namespace causeway::cli {
namespace {

constexpr const char* footer =
    "Text is read and written by tokenizer.json of the folder; without one, by the bytes of the text a model was "
    "trained\n"
    "on. Text of one prompt is printed as it comes, never half a character. What is not given comes from the folder's\n"
    "generation_config.json if there is one, else from what the model's family is published with.\n"
    "\n"
    "The keys and values of all tokens read are kept, so each new token costs one pass over the weights. A sequence\n"
    "that outgrows the model's context of C tokens forgets its oldest ones, C/2 at a time. The same run, options and\n"
    "seed give the same text; row i of a batch has random numbers of its own.\n"
    "\n"
    "--batch reads one prompt a line, or from a file named *.jsonl one object a line: {\"prompt\": \"Moses\"} or\n"
    "{\"ids\": [5, 17, 3]}. --json prints an object for each prompt: prompt, text, prompt_ids, ids, finish_reason\n"
    "(length, eos, stop, cancelled), tokens_per_second, and the settings.\n"
    "\n"
    "Examples:\n"
    "  causeway generate build/runs/kjv_bytes --prompt \"In the beginning\"\n"
    "  causeway generate build/runs/kjv_bytes --prompt \"And God said\" --temperature 0 --max-new-tokens 80\n"
    "  causeway generate build/runs/kjv_bytes --prompt \"Moses\" --top-k 20 --top-p 0.9 --seed 7 --json\n"
    "  causeway generate build/runs/kjv_bytes --prompt \"And it came to pass\" --stop \".\" --stats\n"
    "  causeway generate build/runs/kjv_bytes --batch prompts.txt --batch-size 4 --json > answers.jsonl\n"
    "  causeway generate build/runs/lookback_copy --ids 5,17,3,9 --max-new-tokens 8";

struct Arguments {
    std::string run;
    std::optional<std::string> prompt, ids, batch, eos;
    std::vector<std::string> stop, overrides;
    std::optional<std::int64_t> max_new_tokens, top_k;
    std::optional<double> temperature, top_p, min_p, repetition_penalty;
    std::uint64_t seed = 42;
    std::int64_t batch_size = 8, chunk = 512, context = 0;
    bool no_cache = false, json = false, raw = false, stats = false;
};

template <class T>
void replace(T& value, const std::optional<T>& given) {
    if (given) value = *given;
}

/// Where no generation_config.json says what ends a text: eos_token of tokenizer_config.json, or what stood between the
/// documents of the training data.
std::vector<std::int32_t> eos_by_name(const std::string& run, const Config& config, const Tokenizer* tokenizer) {
    if (tokenizer == nullptr) return {};
    const std::string file = find_tokenizer({run}, config);
    const auto settings = file.empty() ? TokenizerConfig{} : read_tokenizer_config(tokenizer_file(file));
    const std::string name = settings.eos.value_or(config.data.document_separator);
    const std::optional<std::int32_t> id = name.empty() ? std::nullopt : tokenizer->find(name);
    return id ? std::vector<std::int32_t>{*id} : std::vector<std::int32_t>{};
}

/// The defaults of the model, and over them what the command line says.
infer::GenerationOptions options_of(const Arguments& arguments, const Config& config,
                                    const std::shared_ptr<const Tokenizer>& tokenizer) {
    infer::GenerationOptions options = infer::default_generation(config, arguments.run);
    infer::SamplingOptions& sampling = options.sampling;
    replace(options.max_new_tokens, arguments.max_new_tokens);
    replace(sampling.temperature, arguments.temperature);
    replace(sampling.top_k, arguments.top_k);
    replace(sampling.top_p, arguments.top_p);
    replace(sampling.min_p, arguments.min_p);
    replace(sampling.repetition_penalty, arguments.repetition_penalty);
    sampling.seed = arguments.seed;
    if (arguments.eos) {
        options.eos_token_ids = eos_tokens(tokenizer.get(), *arguments.eos);
    } else if (options.eos_token_ids.empty()) {
        options.eos_token_ids = eos_by_name(arguments.run, config, tokenizer.get());
    }
    options.stop = arguments.stop;
    options.cache = !arguments.no_cache;
    if (tokenizer != nullptr) {
        options.token_text = [tokenizer](std::int32_t token) { return token_text(*tokenizer, token); };
    }
    infer::check_generation(options);
    return options;
}

std::vector<Prompt> prompts_of(const Arguments& arguments, const Tokenizer* tokenizer) {
    if (arguments.prompt) require_text_model(tokenizer, "--prompt");
    if (arguments.batch) return read_prompts(*arguments.batch, tokenizer);
    return {tokens_of(tokenizer, arguments.prompt ? &*arguments.prompt : nullptr,
                      arguments.ids ? &*arguments.ids : nullptr, "prompt")};
}

/// As many tokens as the longest sequence will have; the decoder takes no more than the model's context.
std::int64_t capacity_for(const std::vector<Prompt>& prompts, std::int64_t max_new_tokens) {
    constexpr std::int64_t plenty = std::int64_t{1} << 40;
    std::size_t longest = 1;
    for (const Prompt& prompt : prompts) longest = std::max(longest, prompt.size());
    return static_cast<std::int64_t>(longest) + std::clamp<std::int64_t>(max_new_tokens, 1, plenty);
}

/// Prompts in groups that fit the batch. Stops between two tokens when a signal came.
void generate_all(infer::Generator& generator, const std::vector<Prompt>& prompts, infer::GenerationOptions options,
                  GenerationPrinter& printer, const StopSignal& signal) {
    printer.connect(options);
    const auto show = options.on_token;
    options.on_token = [&signal, show](std::int64_t row, std::int32_t token) {
        if (show) show(row, token);
        return !signal.flag();
    };
    const auto batch = static_cast<std::size_t>(generator.batch());
    for (std::size_t first = 0; first < prompts.size() && !signal.flag(); first += batch) {
        const auto group = std::span(prompts).subspan(first, std::min(batch, prompts.size() - first));
        options.first_sequence = first;
        printer.begin(group);
        const std::vector<infer::Continuation> results = generator.generate(group, options);
        printer.end(group, results, generator.times());
    }
}

int run_generate(const Arguments& arguments) {
    const Config config = load_run(RunFolder{arguments.run}, arguments.overrides);
    const std::shared_ptr<const Tokenizer> tokenizer =
        tokenizer_for("causeway generate", arguments.run, config, !arguments.ids);
    const infer::GenerationOptions options = options_of(arguments, config, tokenizer);
    const std::vector<Prompt> prompts = prompts_of(arguments, tokenizer.get());
    infer::DecoderOptions decoder;
    decoder.batch = std::min<std::int64_t>(arguments.batch_size, static_cast<std::int64_t>(prompts.size()));
    decoder.chunk = arguments.chunk;
    decoder.capacity = arguments.context > 0 ? arguments.context : capacity_for(prompts, options.max_new_tokens);
    infer::Generator generator = infer::Generator::from_run(arguments.run, arguments.overrides, decoder);
    for (const Prompt& prompt : prompts) generator.check_prompt(prompt);

    const StopSignal signal;
    GenerationPrinter printer(
        {tokenizer, stdout_is_terminal() && !arguments.raw, arguments.json, !arguments.batch && !arguments.json});
    generate_all(generator, prompts, options, printer, signal);
    if (arguments.stats) printer.print_statistics();
    return signal.number() != 0 ? 128 + signal.number() : exit_success;
}

void add_sampling_options(CLI::App* sub, Arguments& arguments) {
    sub->add_option("--max-new-tokens", arguments.max_new_tokens, "Tokens to add [100]")
        ->type_name("N")
        ->check(whole_number<std::int64_t>(0));
    sub->add_option("--temperature", arguments.temperature, "0 takes the most likely token each time [0.8]")
        ->type_name("X");
    sub->add_option("--top-k", arguments.top_k, "Choose among the k most likely tokens; 0: all [0]")
        ->type_name("N")
        ->check(whole_number<std::int64_t>(0));
    sub->add_option("--top-p", arguments.top_p, "Choose among the likely tokens that make up p together; 1: all [1]")
        ->type_name("X");
    sub->add_option("--min-p", arguments.min_p,
                    "Choose among tokens at least p times as likely as the first; 0: all [0]")
        ->type_name("X");
    sub->add_option("--repetition-penalty", arguments.repetition_penalty,
                    "Above 1: tokens that have occurred become less likely [1]")
        ->type_name("X");
    sub->add_option("--seed", arguments.seed, "Of the random numbers")
        ->type_name("N")
        ->check(whole_number<std::uint64_t>(0))
        ->capture_default_str();
    sub->add_option("--eos", arguments.eos, "Token ids that end a sequence, or the name of a token")->type_name("IDS");
    sub->add_option("--stop", arguments.stop, "Text that ends a sequence and is not printed; may be given again")
        ->type_name("TEXT")
        ->allow_extra_args(false);
}

void add_running_options(CLI::App* sub, Arguments& arguments) {
    const auto count = [](std::int64_t low) { return whole_number<std::int64_t>(low); };
    sub->add_option("--batch-size", arguments.batch_size, "Prompts of --batch that are continued side by side")
        ->type_name("N")
        ->check(whole_number<std::int64_t>(1, 4096))
        ->capture_default_str();
    sub->add_option("--context", arguments.context,
                    "Tokens a row that the cache holds; 0: what this needs, at most the model's context")
        ->type_name("N")
        ->check(count(0))
        ->capture_default_str();
    sub->add_option("--chunk", arguments.chunk, "Tokens of a prompt that are read at once")
        ->type_name("N")
        ->check(count(1))
        ->capture_default_str();
    sub->add_flag("--no-cache", arguments.no_cache, "Read the whole sequence anew for each token, to compare");
    sub->add_flag("--json", arguments.json, "Print a JSON object for each prompt");
    sub->add_flag("--raw", arguments.raw, "Print bytes as they are on a terminal too");
    sub->add_flag("--stats", arguments.stats, "Say on standard error how fast it went");
}

}  // namespace

Command add_generate(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("generate", "Continue a prompt with a trained model");
    auto arguments = std::make_shared<Arguments>();
    sub->add_option("DIR", arguments->run, "The folder of a run")->required();
    CLI::Option* prompt = sub->add_option("--prompt", arguments->prompt, "What to continue")->type_name("TEXT");
    CLI::Option* ids = sub->add_option("--ids", arguments->ids, "The prompt as token ids: 5,17,3")->type_name("IDS");
    CLI::Option* batch =
        sub->add_option("--batch", arguments->batch, "A file of prompts, one a line")->type_name("FILE");
    require_one_of(sub, {prompt, ids, batch});
    add_sampling_options(sub, *arguments);
    add_running_options(sub, *arguments);
    add_overrides(sub, arguments->overrides);
    sub->footer(footer);
    return {sub, [arguments] { return run_generate(*arguments); }};
}

}  // namespace causeway::cli
