#include <algorithm>
#include <array>

#include "base/format.hpp"
#include "inspect/report/chart.hpp"
#include "inspect/report/sections.hpp"

namespace causeway::report {
namespace {

std::vector<std::int64_t> marked_steps(const RunHistory& history) {
    std::vector<std::int64_t> steps = history.not_finite.steps;
    steps.insert(steps.end(), history.skipped.steps.begin(), history.skipped.steps.end());
    std::ranges::sort(steps);
    steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
    return steps;
}

std::string loss_chart(const RunHistory& history, double tokens) {
    const std::vector<std::int64_t> marked = marked_steps(history);
    ChartSpec spec;
    spec.title = "Loss";
    spec.unit = "nats a token";
    spec.may_be_logarithmic = true;
    spec.marked_steps = marked;
    spec.mark_name = "not finite, or nothing learned";
    const std::array<Series, 2> series{Series{"training", &history.loss, 1, true, false},
                                       Series{"validation", &history.validation, 2, false, true}};
    return chart(spec, series, tokens);
}

std::string single(std::string title, std::string unit, const Series& series, double tokens,
                   bool may_be_logarithmic = false) {
    ChartSpec spec;
    spec.title = std::move(title);
    spec.unit = std::move(unit);
    spec.may_be_logarithmic = may_be_logarithmic;
    return chart(spec, std::span(&series, 1), tokens);
}

std::string norm_chart(const RunRecords& records, double tokens) {
    ChartSpec spec;
    spec.title = "Gradient norm";
    spec.unit = "L2 norm";
    spec.may_be_logarithmic = true;
    if (const double limit = records.config.train.max_grad_norm; limit > 0) {
        spec.reference = limit;
        spec.reference_name = fmt::format("clipped at {:g}", limit);
    }
    const Series series{"before clipping", &records.history.grad_norm, 4, true, false};
    return chart(spec, std::span(&series, 1), tokens);
}

std::string load_chart(const RunHistory& history, double tokens) {
    ChartSpec spec;
    spec.title = "Expert load";
    spec.unit = "share of choices";
    const std::array<Series, 2> series{Series{"most used expert", &history.most_load, 2, true, false},
                                       Series{"least used", &history.least_load, 3, true, false}};
    return chart(spec, series, tokens);
}

std::string axis_choice(double tokens) {
    std::string out = "<input type=\"radio\" name=\"axis\" id=\"axis-step\" checked>";
    if (tokens > 0) out += "<input type=\"radio\" name=\"axis\" id=\"axis-tokens\">";
    out += "<input type=\"radio\" name=\"axis\" id=\"axis-time\">\n<div class=\"axes\">by ";
    out += "<label class=\"axis\" for=\"axis-step\">step</label>";
    if (tokens > 0) out += "<label class=\"axis\" for=\"axis-tokens\">tokens</label>";
    return out + "<label class=\"axis\" for=\"axis-time\">time</label></div>\n";
}

}  // namespace

std::string charts(const RunRecords& records) {
    const RunHistory& history = records.history;
    const double tokens = records.card ? static_cast<double>(records.card->tokens_per_step) : 0;
    std::string out = axis_choice(tokens) + "<div class=\"charts\">\n" + loss_chart(history, tokens);
    if (!history.accuracy.empty()) {
        out += single("Accuracy", "share right", {"validation", &history.accuracy, 2, false, true}, tokens);
    }
    if (!history.epoch_loss.empty()) {
        out +=
            single("Mean loss of an epoch", "nats a token", {"training", &history.epoch_loss, 1, false, true}, tokens);
    }
    out += single("Learning rate", "rate", {"learning rate", &history.learning_rate, 3, false, false}, tokens);
    out += norm_chart(records, tokens);
    out +=
        single("Throughput", "tokens a second", {"training steps", &history.tokens_per_second, 1, true, false}, tokens);
    if (!history.aux_loss.empty()) {
        out += single("Auxiliary loss", "without its coefficient",
                      {"of the experts", &history.aux_loss, 4, true, false}, tokens, true);
        out += load_chart(history, tokens);
    }
    return out + "</div>\n";
}

std::string expert_section(const RunHistory& history) {
    if (history.load.empty()) return "";
    std::string out =
        "<h2>Experts</h2>\n<p class=\"soft\">Share of each layer's choices that went to each expert, at the last "
        "step.</p>\n<div class=\"wide\"><table class=\"load\"><tr><th>layer</th>";
    for (std::size_t e = 0; e < history.load.front().size(); ++e) out += fmt::format("<th>{}</th>", e);
    out += "</tr>\n";
    for (std::size_t layer = 0; layer < history.load.size(); ++layer) {
        out += fmt::format("<tr><th>{}</th>", layer);
        const double most = std::max(1e-9, *std::ranges::max_element(history.load[layer]));
        for (const double share : history.load[layer]) {
            out += fmt::format(
                "<td class=\"n\" style=\"background:color-mix(in srgb,var(--c1) {:.0f}%,transparent)\">{:.1f}%</td>",
                45 * share / most, 100 * share);
        }
        out += "</tr>\n";
    }
    return out + "</table></div>\n";
}

}  // namespace causeway::report
