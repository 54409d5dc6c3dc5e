#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/format.hpp"
#include "inspect/report/axis.hpp"
#include "inspect/report/html.hpp"
#include "inspect/report/sections.hpp"
#include "inspect/units.hpp"

namespace causeway::report {
namespace {

using Json = nlohmann::ordered_json;

struct Field {
    std::string name, value;
};

/// "train.batch_size" and its value, of every field that is no object.
void flatten(const Json& value, const std::string& name, std::vector<Field>& fields) {
    if (!value.is_object()) return fields.push_back({name, value.dump()});
    for (const auto& [key, member] : value.items()) flatten(member, name.empty() ? key : name + "." + key, fields);
}

std::vector<Field> fields_of(const Config& config) {
    std::vector<Field> fields;
    flatten(Json::parse(causeway::to_json(config)), "", fields);
    return fields;
}

/// What a config says that names its family alone.
Config defaults_of(const Config& config) {
    const Json start{{"model", {{"model_type", config.model.model_type}}}};
    return parse_config(start.dump(), "defaults");
}

std::string rows_of(const std::vector<Field>& fields) {
    std::string out;
    for (const Field& field : fields) {
        out += fmt::format("<tr><td><code>{}</code></td><td><code>{}</code></td></tr>\n", html_text(field.name),
                           html_text(field.value));
    }
    return out;
}

void add_bytes(std::vector<Fact>& facts, const char* name, std::int64_t bytes) {
    if (bytes > 0) facts.push_back({name, bytes_text(static_cast<double>(bytes))});
}

std::vector<Fact> machine_facts(const RunCard& card) {
    std::vector<Fact> facts{{"causeway", card.version},
                            {"processor", card.cpu},
                            {"instruction set", card.isa},
                            {"threads", std::to_string(card.threads)}};
    if (card.peak_flops_per_second > 0) {
        facts.push_back({"measured peak", quantity_text(card.peak_flops_per_second) + "FLOP/s"});
    }
    facts.push_back({"parameters", count_text(card.parameters)});
    add_bytes(facts, "parameters and packed copies", card.parameter_bytes);
    add_bytes(facts, "gradients, moments, caches", card.state_bytes);
    add_bytes(facts, "activations", card.scratch_bytes);
    facts.push_back({"a training step", quantity_text(card.flops_per_step) + "FLOP"});
    facts.push_back({"plan", fmt::format("{} steps in {} groups", card.plan_steps, card.plan_groups)});
    facts.push_back({"tokens a training step", count_text(card.tokens_per_step)});
    return facts;
}

/// Share of the machine's peak that the mean rate of all steps comes to.
void add_utilisation(std::vector<Fact>& facts, const RunCard& card, const RunHistory& history) {
    if (card.peak_flops_per_second <= 0 || card.tokens_per_step <= 0 || history.tokens_per_second.empty()) return;
    const double steps_per_second = history.tokens_per_second.last().mean / static_cast<double>(card.tokens_per_step);
    facts.push_back({"of the peak, lately", fmt::format("{:.1f}%", 100 * steps_per_second * card.flops_per_step /
                                                                       card.peak_flops_per_second)});
}

std::string session_table(const std::vector<Session>& sessions) {
    if (sessions.size() < 2) return "";
    std::string out =
        "<h2>Sessions</h2>\n<div class=\"wide\"><table><tr><th>started</th><th>from step</th>"
        "<th>ended</th></tr>\n";
    for (const Session& session : sessions) {
        out += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n", html_text(session.started),
                           session.first_step, html_text(session.ended_by));
    }
    return out + "</table></div>\n";
}

}  // namespace

std::string sample_section(const Samples& samples) {
    if (samples.shown.empty()) return "";
    std::string out = "<h2>What it writes</h2>\n";
    for (std::size_t i = 0; i < samples.shown.size(); ++i) {
        if (i == Samples::first && samples.left_out > 0) {
            out += fmt::format("<p class=\"soft\">{} samples are left out here; samples.jsonl has them.</p>\n",
                               count_text(samples.left_out));
        }
        const Sample& sample = samples.shown[i];
        out += fmt::format("<div class=\"sample\"><p>step {}</p><pre><span class=\"prompt\">{}</span>{}</pre></div>\n",
                           count_text(sample.step), html_text(sample.prompt), html_text(sample.text));
    }
    return out;
}

std::string config_section(const Config& config) {
    const std::vector<Field> fields = fields_of(config), defaults = fields_of(defaults_of(config));
    std::vector<Field> same;
    std::string out =
        "<h2>Config</h2>\n<div class=\"wide\"><table><tr><th>field</th><th>value</th><th>default</th></tr>\n";
    for (const Field& field : fields) {
        const auto usual = std::ranges::find(defaults, field.name, &Field::name);
        if (usual != defaults.end() && usual->value == field.value) {
            same.push_back(field);
            continue;
        }
        out += fmt::format("<tr><td><code>{}</code></td><td><code>{}</code></td><td class=\"soft\">{}</td></tr>\n",
                           html_text(field.name), html_text(field.value),
                           usual == defaults.end() ? "" : html_text(usual->value));
    }
    out +=
        fmt::format("</table></div>\n<details><summary>{} fields at their defaults</summary>\n<table>\n", same.size());
    return out + rows_of(same) + "</table></details>\n";
}

std::string machine_section(const RunRecords& records) {
    if (!records.card) return "";
    std::vector<Fact> facts = machine_facts(*records.card);
    add_utilisation(facts, *records.card, records.history);
    facts.push_back({"data", records.card->data});
    std::string out = "<h2>Machine and plan</h2>\n<div class=\"wide\"><table>\n";
    for (const Fact& fact : facts) {
        out += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", html_text(fact.name), html_text(fact.value));
    }
    return out + "</table></div>\n" + session_table(records.card->sessions);
}

std::string file_section(const std::string& folder) {
    constexpr std::array<std::pair<const char*, const char*>, 8> files{
        {{"config.json", "every field, as resolved"},
         {"metrics.jsonl", "a line a step"},
         {"samples.jsonl", "what the model wrote on the way"},
         {"run.json", "machine, plan and state"},
         {"model.safetensors", "the parameters"},
         {"tokenizer.json", "how the model reads and writes text"},
         {"checkpoints", "to resume from"},
         {"tensorboard", "event files"}}};
    std::string out = "<h2>Files</h2>\n<table>\n";
    for (const auto& [name, what] : files) {
        std::error_code ignored;
        if (!std::filesystem::exists(folder + "/" + name, ignored)) continue;
        out += fmt::format("<tr><td><a href=\"{0}\">{0}</a></td><td>{1}</td></tr>\n", name, what);
    }
    return out + "</table>\n";
}

}  // namespace causeway::report
