#include "inspect/data_rows.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "base/ceil_div.hpp"
#include "base/format.hpp"
#include "base/utf8.hpp"
#include "data/open_data.hpp"
#include "data/tokens.hpp"

namespace causeway {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view loss_colour = "\x1b[32m", plain_colour = "\x1b[0m";

/// Tokens in a row that all carry loss or all don't.
struct Run {
    bool loss;
    std::vector<std::int32_t> ids;
};

std::vector<Run> runs_of(const std::vector<DataRow::Token>& tokens) {
    std::vector<Run> runs;
    for (const DataRow::Token& token : tokens) {
        if (runs.empty() || runs.back().loss != token.loss) runs.push_back({token.loss, {}});
        runs.back().ids.push_back(token.id);
    }
    return runs;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
        text.replace(at, from.size(), to);
    }
}

/// Bytes as a JSON string shows them, quotes aside: no control character, only UTF-8.
std::string escaped(const std::string& bytes) {
    constexpr auto replace = nlohmann::json::error_handler_t::replace;
    std::string text = nlohmann::json(bytes).dump(-1, ' ', false, replace);
    text = text.substr(1, text.size() - 2);
    replace_all(text, "\\\"", "\"");
    replace_all(text, "\x7f", "\\u007f");
    for (int code = 0x80; code < 0xA0; ++code) {  // C1: terminals obey some of them
        replace_all(text, fmt::format("\xC2{}", static_cast<char>(code)), fmt::format("\\u{:04x}", code));
    }
    return text;
}

std::string bytes_of(std::span<const std::int32_t> ids, const Tokenizer& tokenizer) {
    std::string bytes;
    for (const std::int32_t id : ids) {
        bytes += id < tokenizer.vocab_size() ? tokenizer.token_bytes(id) : std::string(utf8::replacement);
    }
    return bytes;
}

std::string ids_text(const std::vector<std::int32_t>& ids) { return fmt::format("{}", fmt::join(ids, " ")); }

std::string run_text(const Run& run, const Tokenizer* tokenizer, const RowStyle& style) {
    const bool as_text = tokenizer != nullptr && !style.ids;
    std::string text = as_text ? escaped(bytes_of(run.ids, *tokenizer)) : ids_text(run.ids);
    if (run.loss) {
        text = style.colour ? fmt::format("{}{}{}", loss_colour, text, plain_colour) : fmt::format("{{+{}+}}", text);
    }
    return as_text ? text : text + " ";
}

/// Ends a line where the text has one, visibly.
std::string broken_into_lines(std::string text) {
    replace_all(text, "\\n", "\\n\n    ");
    return "    " + text;
}

std::string targets_text(const std::vector<std::int32_t>& targets) {
    std::vector<std::string> shown;
    for (const std::int32_t target : targets) shown.push_back(is_scored(target) ? fmt::format("{}", target) : ".");
    return fmt::format("{}", fmt::join(shown, " "));
}

}  // namespace

std::int64_t DataRow::scored() const { return std::ranges::count_if(targets, is_scored); }

bool DataRow::is_shifted() const {
    for (std::size_t t = 0; t + 1 < inputs.size(); ++t) {
        if (is_scored(targets[t]) && targets[t] != inputs[t + 1]) return false;
    }
    return true;
}

std::vector<DataRow::Token> DataRow::sequence() const {
    std::vector<Token> tokens{{inputs[0], false}};
    for (std::size_t t = 0; t < inputs.size(); ++t) {
        const bool loss = is_scored(targets[t]), last = t + 1 == inputs.size();
        if (loss || !last) tokens.push_back({loss ? targets[t] : inputs[t + 1], loss});
    }
    while (tokens.size() > 1 && !tokens.back().loss && tokens.back().id == padding_token) tokens.pop_back();
    return tokens;
}

namespace {

std::vector<DataRow> take_rows(const BatchSource& source, std::int64_t first, std::int64_t count) {
    const auto length = static_cast<std::size_t>(source.sequence_length());
    if (source.rows_per_epoch() > 0)
        count = std::min(count, std::max<std::int64_t>(source.rows_per_epoch() - first, 0));
    std::vector<DataRow> rows;
    for (std::int64_t r = first; r < first + count; ++r) {
        DataRow& row =
            rows.emplace_back(DataRow{r, std::vector<std::int32_t>(length), std::vector<std::int32_t>(length)});
        source.fill_one(r, row.inputs, row.targets);
    }
    return rows;
}

std::string row_text(const DataRow& row, const Tokenizer* tokenizer, const RowStyle& style) {
    std::string head = fmt::format("row {}: {} of {} targets carry loss", row.number, row.scored(), row.targets.size());
    if (!row.is_shifted()) {
        return fmt::format("{}\n    inputs  {}\n    targets {}\n", head, ids_text(row.inputs),
                           targets_text(row.targets));
    }
    const std::vector<DataRow::Token> tokens = row.sequence();
    const std::size_t padding = row.inputs.size() + 1 - tokens.size();
    if (padding > 1) head += fmt::format(", {} tokens, the rest is padding", tokens.size());
    std::string text;
    for (const Run& run : runs_of(tokens)) text += run_text(run, tokenizer, style);
    return head + "\n" + broken_into_lines(text) + "\n";
}

Json row_json(const DataRow& row, const Tokenizer* tokenizer) {
    Json json{{"row", row.number}, {"inputs", row.inputs}, {"targets", row.targets}, {"scored", row.scored()}};
    if (tokenizer == nullptr || !row.is_shifted()) return json;
    std::vector<std::int32_t> all, learned;
    for (const DataRow::Token& token : row.sequence()) {
        all.push_back(token.id);
        if (token.loss) learned.push_back(token.id);
    }
    json["text"] = bytes_of(all, *tokenizer);
    json["loss_text"] = bytes_of(learned, *tokenizer);
    return json;
}

std::string epoch_text(std::int64_t rows, std::int64_t batch_size) {
    if (rows == 0) return "drawn without end";
    return fmt::format("{} rows, {} batches an epoch", rows, ceil_div(rows, batch_size));
}

}  // namespace

DataSample sample_data(const Config& config, std::int64_t first, std::int64_t count, bool validation) {
    const DataSources data = open_data(config);
    return {data.description,
            config.train.batch_size,
            config.train.sequence_length,
            data.train->rows_per_epoch(),
            data.validation->rows_per_epoch(),
            validation,
            take_rows(validation ? *data.validation : *data.train, first, count),
            data.tokenizer};
}

std::string data_sample_text(const DataSample& sample, const RowStyle& style) {
    std::string text =
        fmt::format("{}\nbatches     {} x {} tokens\ntraining    {}\nvalidation  {}\n", sample.description,
                    sample.batch_size, sample.sequence_length, epoch_text(sample.rows_per_epoch, sample.batch_size),
                    epoch_text(sample.validation_rows, sample.batch_size));
    for (const DataRow& row : sample.rows) text += "\n" + row_text(row, sample.tokenizer.get(), style);
    return text;
}

std::string data_sample_json(const DataSample& sample) {
    Json json{{"description", sample.description},
              {"batch_size", sample.batch_size},
              {"sequence_length", sample.sequence_length},
              {"rows_per_epoch", sample.rows_per_epoch},
              {"validation_rows", sample.validation_rows},
              {"part", sample.validation ? "validation" : "training"},
              {"rows", Json::array()}};
    for (const DataRow& row : sample.rows) json["rows"].push_back(row_json(row, sample.tokenizer.get()));
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace causeway
