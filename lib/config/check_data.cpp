#include "config/check_data.hpp"

#include <string_view>

#include "base/format.hpp"
#include "config/field_table.hpp"
#include "config/mistake.hpp"

namespace causeway::config {
namespace {

/// Which sources a field means something to; for the others it must keep its default.
struct Applies {
    const char* field;
    bool text, jsonl, chat, tokens, tasks, lookback_copy = tasks;
};
constexpr Applies applies[] = {{"path", true, true, true, true, false},
                               {"mixture", true, true, true, true, false},
                               {"tokenizer", true, true, true, true, false},
                               {"token_type", false, false, false, true, false},
                               {"chat_format", false, false, true, false, false},
                               {"packing", false, true, true, false, false},
                               {"document_start", false, true, false, false, false},
                               {"document_separator", true, true, false, false, false},
                               {"validation_path", true, true, true, true, false},
                               {"validation_fraction", true, true, true, true, false},
                               {"sampling", true, true, true, true, false},
                               {"validation_stride", true, true, true, true, false},
                               {"lookback", false, false, false, false, false, true}};

bool applies_to(const Applies& row, const DataConfig& data) {
    if (data.source == DataSource::lookback_copy) return row.lookback_copy;
    if (data.is_task()) return row.tasks;
    const bool by_source[] = {row.text, row.jsonl, row.chat, row.tokens};
    return by_source[static_cast<std::size_t>(data.source)];
}

std::string source_name(const DataConfig& data, const Section& section) {
    Config config;
    config.data = data;
    return find_field(section, "source")->write(config).get<std::string>();
}

void fields_apply(const Config& config, const std::string& origin) {
    const Section& section = *find_section("data");
    for (const Applies& row : applies) {
        if (applies_to(row, config.data)) continue;
        const Field& field = *find_field(section, row.field);
        const Json found = field.write(config), unset = field.write(Config{});
        if (found == unset) continue;
        fail({"data." + field.key, origin},
             fmt::format("found {}, expected {}: data.source {} has no use for it", describe(found), describe(unset),
                         source_name(config.data, section)));
    }
}

void one_place_for_the_data(const Config& config, const std::string& origin) {
    const DataConfig& data = config.data;
    if (!data.mixture.empty() && !data.path.empty()) {
        fail({"data.mixture", origin}, fmt::format("found {} parts beside data.path {}, expected one of the two",
                                                   data.mixture.size(), data.path));
    }
    for (std::size_t i = 0; i < data.mixture.size(); ++i) {
        if (data.mixture[i].path.empty()) {
            fail({fmt::format("data.mixture[{}].path", i), origin}, "is empty, expected a file, pattern or folder");
        }
    }
    if (!data.validation_path.empty() && data.validation_fraction != DataConfig{}.validation_fraction) {
        fail({"data.validation_fraction", origin},
             fmt::format("found {}, expected nothing: data.validation_path {} is validated on",
                         data.validation_fraction, data.validation_path));
    }
}

/// Without a tokenizer the tokens are bytes. A vocabulary too small for a tokenizer shows when that is opened.
void vocabulary_holds_bytes(const Config& config, const std::string& origin) {
    const DataConfig& data = config.data;
    const bool read = !data.path.empty() || !data.mixture.empty() || !data.validation_path.empty();
    if (!read || data.is_task() || data.source == DataSource::tokens || !data.tokenizer.empty()) return;
    if (config.model.vocab_size >= 256) return;
    fail({"model.vocab_size", origin},
         fmt::format("found {}, expected at least 256: data.source {} without a tokenizer has one token for each byte",
                     config.model.vocab_size, source_name(data, *find_section("data"))));
}

void lookback_fits_sequence(const Config& config, const std::string& origin) {
    if (config.data.source == DataSource::lookback_copy && config.data.lookback >= config.train.sequence_length) {
        fail({"data.lookback", origin}, fmt::format("found {}, expected less than train.sequence_length ({})",
                                                    config.data.lookback, config.train.sequence_length));
    }
}

/// One document a row has no windows, so none overlap.
void stride_needs_windows(const Config& config, const std::string& origin) {
    const DataConfig& data = config.data;
    if (data.packing || data.validation_stride == config.train.sequence_length) return;
    fail({"data.validation_stride", origin},
         fmt::format("found {}, expected 0: with data.packing false each document is validated on once",
                     data.validation_stride));
}

}  // namespace

void check_data(const Config& config, const std::string& origin) {
    fields_apply(config, origin);
    one_place_for_the_data(config, origin);
    vocabulary_holds_bytes(config, origin);
    lookback_fits_sequence(config, origin);
    stride_needs_windows(config, origin);
}

}  // namespace causeway::config
