#include "config/read_json.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/format.hpp"
#include "base/utf8.hpp"
#include "causeway/error.hpp"
#include "config/mistake.hpp"

namespace causeway::config {
namespace {

struct Position {
    std::size_t line = 1;
    std::size_t column = 1;
};

/// Of the byte at `offset`; columns count characters, so continuation bytes of UTF-8 do not.
Position position_of(std::string_view text, std::size_t offset) {
    Position position;
    for (char c : text.substr(0, offset)) {
        if (c == '\n') {
            ++position.line;
            position.column = 1;
        } else if ((static_cast<unsigned char>(c) & 0xC0u) != 0x80u) {
            ++position.column;
        }
    }
    return position;
}

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '+' || c == '.';
}

std::string_view word_at(std::string_view text, std::size_t offset) {
    std::size_t begin = offset, end = offset;
    while (begin > 0 && is_word(text[begin - 1])) --begin;
    while (end < text.size() && is_word(text[end])) ++end;
    return text.substr(begin, std::min<std::size_t>(end - begin, 40));
}

bool follows_comma(std::string_view text, std::size_t offset) {
    const std::size_t last = text.substr(0, offset).find_last_not_of(" \t\r\n");
    return last != std::string_view::npos && text[last] == ',';
}

/// What is wrong at `offset`, where the parser stopped, in words for the mistakes people make.
std::string explain(std::string_view text, std::size_t offset) {
    if (offset >= text.size()) return "the text ends before the JSON does";
    const char c = text[offset];
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) return fmt::format("byte 0x{:02X} is not valid here: the file must be UTF-8 text", byte);
    if (byte < 0x20) return fmt::format("character 0x{:02X} inside a string: is the closing quote missing?", byte);
    if (c == '/' || c == '#') return "comments are not accepted in JSON";
    if (c == '\'') return "strings need double quotes";
    if ((c == '}' || c == ']' || c == ',') && follows_comma(text, offset)) {
        return fmt::format("unexpected '{}' after a comma", c);
    }
    const std::string_view word = word_at(text, offset);
    if (word.empty()) return fmt::format("unexpected '{}'", c);
    constexpr std::string_view not_numbers[] = {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf", "-NaN"};
    if (std::find(std::begin(not_numbers), std::end(not_numbers), word) != std::end(not_numbers)) {
        return fmt::format("'{}' is not JSON: numbers must be finite", word);
    }
    return fmt::format("unexpected '{}'", word);
}

/// Builds the value and stops at the first mistake; knows the key path it is at.
class Builder final : public Json::json_sax_t {
  public:
    Builder(std::string_view text, const std::string& origin) : text_(text), origin_(origin) {}

    Json take() { return std::move(root_); }

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t&) override { return false; }  // JSON text has none

    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }

    bool key(string_t& name) override {
        keys_.back() = name;
        if (open_.back()->contains(name)) {
            fail({path(), origin_}, "the key appears twice");
        }
        return true;
    }

    /// `read` is the number of bytes consumed, the offending one included.
    bool parse_error(std::size_t read, const std::string& token, const Json::exception& error) override {
        const std::size_t offset = std::min(read == 0 ? 0 : read - 1, text_.size());
        const Position at = position_of(text_, offset);
        const bool overflow = dynamic_cast<const Json::out_of_range*>(&error) != nullptr;
        const std::string problem =
            overflow ? fmt::format("number {} is too large for a double", token) : explain(text_, offset);
        throw ConfigError(fmt::format("{}:{}:{}: {}{}", origin_, at.line, at.column, problem,
                                      path().empty() ? "" : " (at " + one_line(path()) + ")"));
    }

  private:
    bool add(Json value) {
        place(std::move(value));
        return true;
    }

    bool open(Json container) {
        open_.push_back(place(std::move(container)));
        keys_.emplace_back();
        return true;
    }

    bool close() {
        open_.pop_back();
        keys_.pop_back();
        return true;
    }

    /// Only the innermost container grows, so pointers to the ones around it stay good.
    Json* place(Json value) {
        if (open_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        if (open_.back()->is_array()) {
            open_.back()->push_back(std::move(value));
            return &open_.back()->back();
        }
        return &((*open_.back())[keys_.back()] = std::move(value));
    }

    std::string path() const {
        constexpr std::size_t deepest_shown = 8;
        std::string joined;
        for (std::size_t i = 0; i < std::min(keys_.size(), deepest_shown); ++i) {
            if (keys_[i].empty()) continue;
            joined += (joined.empty() ? "" : ".") + keys_[i];
        }
        return joined;
    }

    std::string_view text_;
    const std::string& origin_;
    Json root_;
    std::vector<Json*> open_;
    std::vector<std::string> keys_;  // one for each open container; empty for arrays
};

}  // namespace

Json read_json(const std::string& text, const std::string& origin) {
    const std::string_view body = utf8::without_byte_order_mark(text);
    if (const std::size_t nul = body.find('\0'); nul != std::string_view::npos) {
        const Position at = position_of(body, nul);  // the parser would take it for the end
        throw ConfigError(fmt::format("{}:{}:{}: byte 0x00: this is not UTF-8 text", origin, at.line, at.column));
    }
    Builder builder(body, origin);
    Json::sax_parse(body.begin(), body.end(), &builder);
    return builder.take();
}

}  // namespace causeway::config
