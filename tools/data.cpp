#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "command.hpp"
#include "inspect/data_rows.hpp"
#include "output.hpp"

namespace causeway::cli {
namespace {

constexpr const char* footer =
    "Shows what a config trains on: files, counts, and the first rows as the model gets them. Of a token that carries\n"
    "loss, prediction is learned; on a terminal those are green, elsewhere they stand between {+ and +}. Rows of\n"
    "training are in the order in which training meets them: rows 0 to batch_size - 1 are the first micro-batch.\n"
    "docs/data.md has the sources and formats.\n"
    "\n"
    "Examples:\n"
    "  causeway data configs/kjv_bytes.json\n"
    "  causeway data sft.json --rows 4 --set data.path=chats.jsonl\n"
    "  causeway data sft.json --first 1000 --rows 1 --ids\n"
    "  causeway data sft.json --validation --json | jq '.rows[].loss_text'";

struct Arguments {
    std::string config;
    std::vector<std::string> overrides;
    std::int64_t rows = 3, first = 0;
    bool validation = false, ids = false, json = false;
};

int run_data(const Arguments& arguments) {
    const Config config = load_config(arguments.config, arguments.overrides);
    const DataSample sample = sample_data(config, arguments.first, arguments.rows, arguments.validation);
    print(arguments.json ? data_sample_json(sample) : data_sample_text(sample, {stdout_has_colour(), arguments.ids}));
    return exit_success;
}

}  // namespace

Command add_data(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("data", "Show what a config trains on: counts, rows, which tokens carry loss");
    auto arguments = std::make_shared<Arguments>();
    add_config(sub, arguments->config);
    sub->add_option("--rows", arguments->rows, "Rows to show")
        ->type_name("N")
        ->check(whole_number<std::int64_t>(0, 1'000'000))
        ->capture_default_str();
    sub->add_option("--first", arguments->first, "Number of the first of them, from 0")
        ->type_name("N")
        ->check(whole_number<std::int64_t>(0, std::int64_t{1} << 40))
        ->capture_default_str();
    sub->add_flag("--validation", arguments->validation, "Rows of validation instead of training");
    sub->add_flag("--ids", arguments->ids, "Token ids instead of text");
    sub->add_flag("--json", arguments->json, "One JSON object: description, counts, rows");
    add_overrides(sub, arguments->overrides);
    sub->footer(footer);
    return {sub, [arguments] { return run_data(*arguments); }};
}

}  // namespace causeway::cli
