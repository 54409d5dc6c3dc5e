#include "inspect/report/page.hpp"

#include <ctime>

#include "base/format.hpp"
#include "inspect/report/html.hpp"
#include "inspect/report/page_style.hpp"
#include "inspect/report/sections.hpp"

namespace causeway::report {

std::string page(const RunRecords& records) {
    const bool live = state_words(records).state == to_string(RunState::running);
    std::string out = "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
    out += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n";
    if (live) out += "<noscript><meta http-equiv=\"refresh\" content=\"5\"></noscript>\n";
    out += fmt::format("<title>{} - causeway</title>\n<style>{}</style>\n</head>\n", html_text(records.folder),
                       page_style());
    out += fmt::format("<body data-written=\"{}\" data-tokens=\"{}\"{}>\n", std::time(nullptr),
                       records.card ? records.card->tokens_per_step : 0, live ? " data-live=\"1\"" : "");
    out += heading(records) + tiles(records) + warnings(records.history) + charts(records);
    out += expert_section(records.history) + sample_section(records.samples) + config_section(records.config);
    out += machine_section(records) + file_section(records.folder);
    return out + fmt::format("<script>{}</script>\n</body>\n</html>\n", page_script());
}

std::string summary_text(const RunRecords& records) {
    const StateWords words = state_words(records);
    std::string out =
        fmt::format("{:<21} {}{}\n", records.folder, words.state, words.why.empty() ? "" : ": " + words.why);
    for (const Fact& fact : first_facts(records)) out += fmt::format("{:<22}{}\n", fact.name, fact.value);
    const RunHistory& history = records.history;
    if (history.not_finite.count > 0) out += fmt::format("{:<22}{}\n", "steps not finite", history.not_finite.count);
    if (history.skipped.count > 0) out += fmt::format("{:<22}{}\n", "steps skipped", history.skipped.count);
    return out;
}

}  // namespace causeway::report
