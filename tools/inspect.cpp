#include <fmt/format.h>

#include <memory>
#include <optional>

#include "causeway/error.hpp"
#include "command.hpp"
#include "inspect/attention_maps.hpp"
#include "inspect/head_metrics.hpp"
#include "inspect/run_attention.hpp"
#include "io/atomic_file.hpp"
#include "io/run_folder.hpp"
#include "output.hpp"
#include "text.hpp"

namespace causeway::cli {
namespace {

constexpr const char* footer =
    "The heatmap has a line a query, top to bottom, and a column a key it may look at, left to right; the glyph for\n"
    "weight w is number floor(10 w) of \" .:-=+*#%@\".\n"
    "\n"
    "Examples:\n"
    "  causeway inspect build/runs/kjv_bytes --text \"And God said, Let there be light\" --layer 1 --head 0\n"
    "  causeway inspect build/runs/kjv_bytes --text \"In the beginning\" --metrics\n"
    "  causeway inspect build/runs/kjv_bytes --text \"In the beginning\" --svg heads.svg --npy weights.npy\n"
    "  causeway inspect build/runs/lookback_copy --ids 5,17,3,9,22,4 --metrics --json";

struct Arguments {
    std::string run;
    std::optional<std::string> text, ids;
    std::optional<std::int64_t> layer, head;
    std::vector<std::string> overrides;
    std::string npy, svg, mask;
    bool metrics = false, json = false;
};

/// One head when one was asked for, otherwise all of them.
std::string picture(const Arguments& arguments, const AttentionMaps& maps, const std::vector<std::string>& labels) {
    if (!arguments.layer && !arguments.head) {
        return heatmap_grid_svg(maps, 0, fmt::format("Attention of {}", arguments.run));
    }
    const std::int64_t layer = arguments.layer.value_or(0), head = arguments.head.value_or(0);
    return heatmap_svg(maps.map(layer, 0, head), labels,
                       fmt::format("{}, layer {}, head {}", arguments.run, layer, head));
}

std::string heatmap(const Arguments& arguments, const AttentionMaps& maps, const std::vector<std::string>& labels) {
    const std::int64_t layer = arguments.layer.value_or(0), head = arguments.head.value_or(0);
    return fmt::format("layer {} of {}, head {} of {}\n{}", layer, maps.layers, head, maps.heads,
                       heatmap_text(maps.map(layer, 0, head), labels));
}

int run_inspect(const Arguments& arguments) {
    const RunFolder run{arguments.run};
    const Config config = load_run(run, arguments.overrides);
    const std::shared_ptr<const Tokenizer> tokenizer = text_tokenizer(arguments.run, config);
    if (arguments.text) require_text_model(tokenizer.get(), "--text");
    const std::vector<std::int32_t> ids = tokens_of(tokenizer.get(), arguments.text ? &*arguments.text : nullptr,
                                                    arguments.ids ? &*arguments.ids : nullptr, "text");
    std::optional<AttentionMask> mask;
    if (!arguments.mask.empty()) mask = read_attention_mask(arguments.mask);
    const AttentionMaps maps = run_attention(run, config, ids, mask);
    const std::vector<std::string> labels = token_labels(tokenizer.get(), ids);

    // Everything that can fail on an index comes before the first file is written.
    const std::string map = heatmap(arguments, maps, labels);
    if (!arguments.npy.empty()) write_attention_npy(arguments.npy, maps, 0);
    if (!arguments.svg.empty()) write_text_atomically(arguments.svg, picture(arguments, maps, labels));
    if (arguments.json) {
        print(head_metrics_json(head_metrics(maps, ids)) + "\n");
        return exit_success;
    }
    print(map);
    for (const std::string& file : {arguments.npy, arguments.svg}) {
        if (!file.empty()) print(fmt::format("wrote {}\n", file));
    }
    if (arguments.metrics) print("\n" + head_metrics_text(head_metrics(maps, ids)));
    return exit_success;
}

}  // namespace

Command add_inspect(CLI::App& app) {
    CLI::App* sub = app.add_subcommand("inspect", "Show what the attention heads of a trained model look at");
    auto arguments = std::make_shared<Arguments>();
    sub->add_option("DIR", arguments->run, "The folder of a run")->required();
    CLI::Option* text = sub->add_option("--text", arguments->text, "What the model reads")->type_name("TEXT");
    CLI::Option* ids = sub->add_option("--ids", arguments->ids, "The same as token ids: 5,17,3")->type_name("IDS");
    require_one_of(sub, {text, ids});
    sub->add_option("--layer", arguments->layer, "Layer of the heatmap, 0 if not given")->type_name("N");
    sub->add_option("--head", arguments->head, "Head of the heatmap, 0 if not given")->type_name("N");
    sub->add_flag("--metrics", arguments->metrics, "Add a table of what each head does");
    sub->add_flag("--json", arguments->json, "Print the table of metrics as JSON, and nothing else");
    sub->add_option("--npy", arguments->npy, "Write all weights, (layers, heads, T, T)")->type_name("FILE");
    sub->add_option("--svg", arguments->svg, "Write a picture: of one head if --layer or --head is given, or of all")
        ->type_name("FILE");
    add_mask(sub, arguments->mask);
    add_overrides(sub, arguments->overrides);
    sub->footer(footer);
    return {sub, [arguments] { return run_inspect(*arguments); }};
}

}  // namespace causeway::cli
