#include <charconv>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cpu.hpp"
#include "base/format.hpp"
#include "causeway/error.hpp"
#include "command.hpp"
#include "config/config.hpp"
#include "inspect/mode_plan.hpp"
#include "inspect/plan_dump.hpp"
#include "inspect/plan_scaling.hpp"
#include "inspect/recompute_table.hpp"
#include "inspect/units.hpp"
#include "io/atomic_file.hpp"
#include "output.hpp"

namespace causeway::cli {
namespace {

constexpr const char* footer =
    "Nothing is reserved and no data is read: this works for models far larger than the machine.\n"
    "\n"
    "Examples:\n"
    "  causeway plan configs/repeat_h4.json\n"
    "  causeway plan configs/gpt2_124m.json --mode prefill --sequence-length 512\n"
    "  causeway plan configs/gpt2_124m.json --mode decode\n"
    "  causeway plan configs/gpt2_124m.json --batch 4 --sequence-length 1024 --set train.recompute=block\n"
    "  causeway plan configs/kjv_bytes.json --cores all\n"
    "  causeway plan configs/gpt2_124m.json --cores 8,16 --json\n"
    "  causeway plan configs/kjv_bytes.json --svg plan.svg\n"
    "  causeway plan configs/kjv_bytes.json --dot | dot -Tpdf -o plan.pdf";

struct Arguments {
    std::string config;
    std::string mode = "train";
    std::optional<std::string> batch, sequence_length;
    std::vector<std::string> overrides;
    bool json = false, dot = false, no_reuse = false;
    std::string svg;
    std::string cores;
};

/// Options that are fields of the config by another name go through its parser, which knows their limits.
std::vector<std::string> all_overrides(const Arguments& arguments) {
    std::vector<std::string> overrides = arguments.overrides;
    if (arguments.batch) overrides.push_back("train.batch_size=" + *arguments.batch);
    if (arguments.sequence_length) {
        overrides.push_back("train.sequence_length=" + *arguments.sequence_length);
        // what generate reads at once, and what its cache holds
        if (arguments.mode == "prefill" || arguments.mode == "decode")
            overrides.push_back("model.max_position_embeddings=" + *arguments.sequence_length);
    }
    if (arguments.no_reuse) overrides.push_back("runtime.memory_reuse=false");
    return overrides;
}

std::string memory_verdict(const Config& config, const ExecutionPlan& plan) {
    const auto needed = static_cast<double>(plan.memory.total());
    auto available = static_cast<double>(available_memory());
    std::string of = "available";
    if (config.runtime.memory_limit_mb > 0) {
        available = static_cast<double>(config.runtime.memory_limit_bytes());
        of = "runtime.memory_limit_mb";
    }
    return fmt::format("needs {} of {} {}: {}\n", bytes_text(needed), bytes_text(available), of,
                       needed <= available ? "fits" : "does not fit");
}

/// What each choice of train.recompute would cost; nothing in modes that have no backward pass.
std::vector<RecomputeCost> choices_of_recompute(const Arguments& arguments, const Config& config) {
    return arguments.mode == "train" ? recompute_costs(config) : std::vector<RecomputeCost>{};
}

constexpr int most_cores = 1024;

/// "all", or numbers between commas: 8 or 1,2,4. Nothing when it is neither.
std::vector<int> parse_cores(const std::string& text) {
    if (text == "all") return {1, 2, 4, 8, 16, 32, 64, 128};
    std::vector<int> cores;
    const char* at = text.data();
    const char* const end = at + text.size();
    for (;;) {
        int count = 0;
        const auto [rest, error] = std::from_chars(at, end, count);
        if (error != std::errc() || count < 1 || count > most_cores) return {};
        cores.push_back(count);
        if (rest == end) return cores;
        if (*rest != ',') return {};
        at = rest + 1;
    }
}

std::string check_cores(const std::string& text) {
    if (!parse_cores(text).empty()) return "";
    return fmt::format("found {}, expected \"all\" or integers from 1 to {} between commas", text, most_cores);
}

int run_plan(const Arguments& arguments) {
    const Config config = load_config(arguments.config, all_overrides(arguments));
    const ExecutionPlan plan = mode_plan(config, arguments.mode);
    std::vector<PartScaling> scaling;
    if (!arguments.cores.empty()) {
        scaling = predict_scaling(plan, parse_cores(arguments.cores), config.train.gradient_accumulation_steps);
    }
    if (!arguments.svg.empty()) {
        write_text_atomically(arguments.svg, plan_svg(plan));
        print(fmt::format("{}: {} steps in {} groups, {}", arguments.svg, plan.steps.size(), plan.groups.size(),
                          memory_verdict(config, plan)));
    } else if (arguments.json) {
        print(plan_json(plan, {choices_of_recompute(arguments, config), scaling}));
    } else if (arguments.dot) {
        print(plan_dot(plan));
    } else if (!scaling.empty()) {
        print(scaling_text(plan, scaling));
    } else {
        const std::vector<RecomputeCost> choices = choices_of_recompute(arguments, config);
        print(plan_text(plan) + "\n" + (choices.empty() ? "" : recompute_text(choices) + "\n") +
              memory_verdict(config, plan));
    }
    return exit_success;
}

}  // namespace

Command add_plan(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("plan", "Show the steps a config compiles to, their memory and cost");
    auto arguments = std::make_shared<Arguments>();
    add_config(sub, arguments->config);
    sub->add_option("--mode", arguments->mode, "train, eval, logits, prefill, decode or inspect")
        ->type_name("MODE")
        ->check(CLI::IsMember(mode_names()))
        ->capture_default_str();
    sub->add_option("--batch", arguments->batch, "Sequences in a batch, instead of the config's")->type_name("N");
    sub->add_option("--sequence-length", arguments->sequence_length, "Tokens in a sequence, instead of the config's")
        ->type_name("N");
    sub->add_flag("--no-reuse", arguments->no_reuse, "Give each value a buffer of its own");
    add_overrides(sub, arguments->overrides);
    CLI::Option* json = sub->add_flag("--json", arguments->json, "Print JSON");
    CLI::Option* dot = sub->add_flag("--dot", arguments->dot, "Print the graph for Graphviz");
    CLI::Option* svg =
        sub->add_option("--svg", arguments->svg, "Write a drawing of memory and steps")->type_name("FILE");
    CLI::Option* cores = sub->add_option("--cores", arguments->cores,
                                         "Predict the speed-up on N cores (\"all\": 1,2,4,...,128) and show what "
                                         "limits it, instead of the steps")
                             ->type_name("N[,N...]")
                             ->check(CLI::Validator(check_cores, ""));
    json->excludes(dot)->excludes(svg);
    dot->excludes(svg)->excludes(cores);
    svg->excludes(cores);
    sub->footer(footer);
    return {sub, [arguments] { return run_plan(*arguments); }};
}

}  // namespace causeway::cli
