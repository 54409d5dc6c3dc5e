#include <cmath>
#include <filesystem>

#include "base/format.hpp"
#include "inspect/report/axis.hpp"
#include "inspect/report/html.hpp"
#include "inspect/report/sections.hpp"
#include "inspect/units.hpp"

namespace causeway::report {
namespace {

std::string time_text(double seconds) {
    const auto whole = static_cast<std::int64_t>(seconds + 0.5);
    if (seconds < 60) return fmt::format("{:.1f} s", seconds);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string loss_text(double loss) { return std::isfinite(loss) ? fmt::format("{:.4f}", loss) : "not finite"; }

/// "12, 13, 40 and 5 more"
std::string list_text(const StepList& list) {
    constexpr std::size_t named = 12;
    std::string text;
    for (std::size_t i = 0; i < std::min(named, list.steps.size()); ++i) {
        text += fmt::format("{}{}", i == 0 ? "" : ", ", count_text(list.steps[i]));
    }
    const auto more = list.count - static_cast<std::int64_t>(std::min(named, list.steps.size()));
    return more > 0 ? fmt::format("{} and {} more", text, count_text(more)) : text;
}

std::string warning(const StepList& list, std::string_view what) {
    if (list.count == 0) return "";
    return fmt::format("<p class=\"warning\">{} {} {}: {}</p>\n", count_text(list.count),
                       list.count == 1 ? "step" : "steps", what, list_text(list));
}

}  // namespace

StateWords state_words(const RunRecords& records) {
    if (records.card && !records.card->sessions.empty()) {
        const Session last = records.card->last_session();
        return {std::string(to_string(last.state)), last.ended_by};
    }
    const std::string& limit = records.history.ended_by;
    const bool done = !limit.empty() && limit != "stop";
    return {std::string(to_string(done ? RunState::done : RunState::stopped)), done ? "train." + limit : ""};
}

std::vector<Fact> first_facts(const RunRecords& records) {
    const RunHistory& history = records.history;
    const std::int64_t most = records.card ? records.card->planned_steps : records.config.train.max_steps;
    std::vector<Fact> facts{{most > 0 ? fmt::format("steps, of {}", count_text(most)) : "steps",  //
                             count_text(history.steps)}};
    if (history.steps == 0) return facts;
    facts.push_back({"training loss", loss_text(history.last_loss)});
    if (history.last_validation) facts.push_back({"validation loss", loss_text(*history.last_validation)});
    if (history.best_validation && *history.best_validation < *history.last_validation) {
        facts.push_back(
            {fmt::format("best, at step {}", count_text(history.best_step)), loss_text(*history.best_validation)});
    }
    if (!history.bits_per_byte.empty()) {
        facts.push_back({"bits a byte", fmt::format("{:.4f}", history.bits_per_byte.last().mean)});
    }
    if (!history.accuracy.empty()) {
        facts.push_back({"accuracy", fmt::format("{:.2f}%", 100 * history.accuracy.last().mean)});
    }
    if (records.card && records.card->tokens_per_step > 0) {
        facts.push_back({"tokens", figure_text(static_cast<double>(history.steps) *
                                               static_cast<double>(records.card->tokens_per_step))});
    }
    if (!history.tokens_per_second.empty()) {
        facts.push_back({"tokens a second", figure_text(history.tokens_per_second.last().mean, 3)});
    }
    facts.push_back({"time", time_text(history.seconds)});
    if (state_words(records).state == to_string(RunState::running) && history.steps < most) {
        const double left = static_cast<double>(most - history.steps) / static_cast<double>(history.steps);
        facts.push_back({"to go, about", time_text(history.seconds * left)});
    }
    return facts;
}

std::string heading(const RunRecords& records) {
    const StateWords words = state_words(records);
    const std::filesystem::path path = std::filesystem::path(records.folder).lexically_normal();
    const std::string name = path.has_filename() ? path.filename().string() : path.parent_path().filename().string();
    std::string out = fmt::format("<h1>{} <span class=\"state {}\">{}</span></h1>\n<p class=\"soft\">",
                                  html_text(name.empty() ? records.folder : name), words.state, words.state);
    if (!words.why.empty()) out += html_text(words.why) + "; ";
    return out + fmt::format("written {}<span id=\"ago\"></span></p>\n", utc_time());
}

std::string tiles(const RunRecords& records) {
    std::string out = "<div class=\"tiles\">";
    for (const Fact& fact : first_facts(records)) {
        out += fmt::format("<div><span>{}</span><b>{}</b></div>", html_text(fact.name), html_text(fact.value));
    }
    return out + "</div>\n";
}

std::string warnings(const RunHistory& history) {
    std::string out = warning(history.not_finite, "with a loss or gradient norm that is not finite");
    out += warning(history.skipped, "in which nothing was learned");
    if (history.unreadable > 0) {
        out += fmt::format("<p class=\"warning\">{} of metrics.jsonl cannot be read and {} passed over</p>\n",
                           history.unreadable == 1 ? "1 line" : count_text(history.unreadable) + " lines",
                           history.unreadable == 1 ? "is" : "are");
    }
    return out;
}

}  // namespace causeway::report
