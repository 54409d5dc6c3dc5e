#include "inspect/trace.hpp"

#include <memory>

#include "command.hpp"
#include "config/config.hpp"
#include "output.hpp"

namespace causeway::cli {
namespace {

constexpr const char* footer =
    "Parameters and token ids are random, from the seed: no run and no data are needed.\n"
    "\n"
    "Examples:\n"
    "  causeway trace configs/repeat_h4.json\n"
    "  causeway trace configs/kjv_bytes.json --set model.hidden_size=64 --batch 2 --sequence-length 5 --layer 3\n"
    "  causeway trace configs/knowledge_card.json                                       # sees all, 2 x 10 tokens\n"
    "  causeway trace configs/knowledge_card.json --mask configs/knowledge_card_mask.npy\n"
    "  causeway trace configs/repeat_h4.json --set model.position_embedding=alibi --set model.sliding_window=3";

struct Arguments {
    std::string config;
    std::vector<std::string> overrides;
    TraceOptions options;
    std::string mask;
};

}  // namespace

Command add_trace(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("trace", "Follow one forward pass: names, shapes, attention weights, checks");
    auto arguments = std::make_shared<Arguments>();
    add_config(sub, arguments->config);
    TraceOptions& options = arguments->options;
    sub->add_option("--batch", options.batch, "Sequences")->type_name("N")->capture_default_str();
    sub->add_option("--sequence-length", options.sequence_length,
                    "Tokens in each; 5 if not given, or train.sequence_length where that is at most 10")
        ->type_name("N");
    sub->add_option("--layer", options.layer, "The attention layer to look into")
        ->type_name("N")
        ->capture_default_str();
    sub->add_option("--seed", options.seed, "Of parameters and token ids")
        ->type_name("N")
        ->check(whole_number<std::uint64_t>(0))
        ->capture_default_str();
    add_mask(sub, arguments->mask);
    add_overrides(sub, arguments->overrides);
    sub->footer(footer);
    return {sub, [arguments] {
                const Config config = load_config(arguments->config, arguments->overrides);
                if (!arguments->mask.empty()) arguments->options.mask = read_attention_mask(arguments->mask);
                print(trace_text(trace_model(config, arguments->options)));
                return exit_success;
            }};
}

}  // namespace causeway::cli
