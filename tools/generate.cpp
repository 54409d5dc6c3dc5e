#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "causeway/error.hpp"
#include "command.hpp"
#include "infer/generator.hpp"
#include "output.hpp"
#include "text.hpp"

namespace causeway::cli {
namespace {

constexpr const char* footer =
    "Each token is printed as soon as it is known. Of a sequence longer than the model's context, the last tokens\n"
    "that fit count (a window that slides). The same run, options and seed give the same text.\n"
    "\n"
    "Examples:\n"
    "  causeway generate build/runs/kjv_bytes --prompt \"In the beginning\"\n"
    "  causeway generate build/runs/kjv_bytes --prompt \"And God said\" --temperature 0 --max-new-tokens 80\n"
    "  causeway generate build/runs/kjv_bytes --prompt \"Moses\" --top-k 20 --top-p 0.9 --seed 7 --json\n"
    "  causeway generate build/runs/lookback_copy --ids 5,17,3,9 --max-new-tokens 8";

struct Arguments {
    std::string run;
    std::optional<std::string> prompt, ids;
    std::vector<std::string> overrides;
    GenerationOptions options;
    bool json = false;
};

std::string printable(const std::vector<std::int32_t>& tokens, bool text) {
    TokenPrinter printer(text, false);
    std::string out;
    for (const std::int32_t token : tokens) out += printer.add(token);
    return out + printer.finish();
}

/// Prompt and continuation as they come.
void stream(Generator& generator, const std::vector<std::int32_t>& prompt, GenerationOptions options) {
    TokenPrinter printer(reads_text(generator.config()), stdout_is_terminal());
    std::string start;
    for (const std::int32_t token : prompt) start += printer.add(token);
    print(start);
    options.on_token = [&](std::int32_t token) {
        const std::string piece = printer.add(token);
        if (!piece.empty()) print(piece);
        return true;
    };
    generator.generate(prompt, options);
    print(printer.finish() + "\n");
}

/// One JSON object; text that is no UTF-8 is shown with U+FFFD, "tokens" are exact.
void print_json(Generator& generator, const std::vector<std::int32_t>& prompt, const GenerationOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<std::int32_t> tokens = generator.generate(prompt, options);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const bool text = reads_text(generator.config());
    const nlohmann::ordered_json object{{"prompt", printable(prompt, text)},
                                        {"text", printable(tokens, text)},
                                        {"prompt_tokens", prompt},
                                        {"tokens", tokens},
                                        {"temperature", options.sampling.temperature},
                                        {"top_k", options.sampling.top_k},
                                        {"top_p", options.sampling.top_p},
                                        {"seed", options.sampling.seed},
                                        {"seconds", seconds}};
    print(object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

int run_generate(const Arguments& arguments) {
    check_sampling(arguments.options.sampling);
    const std::vector<std::int32_t> prompt =
        tokens_of(arguments.prompt ? &*arguments.prompt : nullptr, arguments.ids ? &*arguments.ids : nullptr, "prompt");
    Generator generator = Generator::from_run(arguments.run, arguments.overrides);
    if (arguments.prompt) require_text_model(generator.config(), "--prompt");
    generator.check_prompt(prompt);
    if (arguments.json) {
        print_json(generator, prompt, arguments.options);
    } else {
        stream(generator, prompt, arguments.options);
    }
    return exit_success;
}

}  // namespace

Command add_generate(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("generate", "Continue a prompt with a trained model");
    auto arguments = std::make_shared<Arguments>();
    GenerationOptions& options = arguments->options;
    SamplingOptions& sampling = options.sampling;
    sub->add_option("DIR", arguments->run, "The folder of a run")->required();
    CLI::Option* prompt = sub->add_option("--prompt", arguments->prompt, "What to continue")->type_name("TEXT");
    CLI::Option* ids = sub->add_option("--ids", arguments->ids, "The prompt as token ids: 5,17,3")->type_name("IDS");
    require_one_of(sub, prompt, ids);
    sub->add_option("--max-new-tokens", options.max_new_tokens, "Tokens to add")
        ->type_name("N")
        ->check(whole_number<std::int64_t>(0))
        ->capture_default_str();
    sub->add_option("--temperature", sampling.temperature, "0 takes the most likely token each time")
        ->type_name("X")
        ->capture_default_str();
    sub->add_option("--top-k", sampling.top_k, "Choose among the k most likely tokens; 0: all")
        ->type_name("N")
        ->check(whole_number<std::int64_t>(0))
        ->capture_default_str();
    sub->add_option("--top-p", sampling.top_p, "Choose among the likely tokens that make up p together; 1: all")
        ->type_name("X")
        ->capture_default_str();
    sub->add_option("--seed", sampling.seed, "Of the random numbers")
        ->type_name("N")
        ->check(whole_number<std::uint64_t>(0))
        ->capture_default_str();
    sub->add_flag("--json", arguments->json, "Print one JSON object at the end");
    add_overrides(sub, arguments->overrides);
    sub->footer(footer);
    return {sub, [arguments] { return run_generate(*arguments); }};
}

}  // namespace causeway::cli
