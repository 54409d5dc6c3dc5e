#include "text.hpp"

#include <charconv>
#include <filesystem>
#include <utility>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/run_folder.hpp"
#include "tokenizing.hpp"

namespace causeway::cli {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";  // U+FFFD

bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

/// Bytes of the UTF-8 character that begins with this byte; 0 when none does.
std::size_t character_length(unsigned char first) {
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return 2;
    if (first >= 0xE0 && first <= 0xEF) return 3;
    return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

/// Whether a second byte may follow a first: no overlong forms, no surrogates, nothing above U+10FFFF.
bool may_follow(unsigned char first, unsigned char second) {
    if (first == 0xE0) return second >= 0xA0;
    if (first == 0xED) return second < 0xA0;
    if (first == 0xF0) return second >= 0x90;
    if (first == 0xF4) return second < 0x90;
    return true;
}

bool is_control(const std::string& character) {
    const auto first = static_cast<unsigned char>(character[0]);
    if (character.size() == 1) return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F;
    return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;  // C1
}

std::vector<std::int32_t> parse_ids(std::string_view list, std::string_view what) {
    std::vector<std::int32_t> ids;
    const char* at = list.data();
    const char* const end = at + list.size();
    while (at != end) {
        std::int32_t id = 0;
        const auto [next, error] = std::from_chars(at, end, id);
        const bool separated = next == end || *next == ',' || *next == ' ';
        if (error != std::errc() || !separated) {
            throw DataError(fmt::format("{}: found \"{}\", expected token ids such as 5,17,3", what, list));
        }
        ids.push_back(id);
        at = next;
        while (at != end && (*at == ',' || *at == ' ')) ++at;
    }
    return ids;
}

}  // namespace

std::shared_ptr<const Tokenizer> text_tokenizer(const std::string& run, const Config& config) {
    const std::string file = find_tokenizer({run}, config);
    if (file.empty()) return reads_text(config) && config.data.tokenizer.empty() ? byte_tokenizer() : nullptr;
    auto tokenizer = open_tokenizer(file);
    if (tokenizer->vocab_size() > config.model.vocab_size) {
        throw DataError(fmt::format("{}: has {} tokens, the model's vocab_size is {}", file, tokenizer->vocab_size(),
                                    config.model.vocab_size));
    }
    return tokenizer;
}

std::vector<std::int32_t> tokens_of(const Tokenizer* tokenizer, const std::string* text, const std::string* ids,
                                    std::string_view what) {
    std::vector<std::int32_t> tokens;
    if (ids != nullptr) {
        tokens = parse_ids(*ids, what);
    } else {
        require_text_model(tokenizer, what);
        tokenizer->encode(*text, tokens);
    }
    if (tokens.empty()) throw DataError(fmt::format("the {} is empty, expected at least one token", what));
    return tokens;
}

std::vector<std::int32_t> eos_tokens(const Tokenizer* tokenizer, const std::string& text) {
    if (tokenizer != nullptr && text.find_first_not_of("0123456789, ") != std::string::npos) {
        return {*token_named(*tokenizer, text, "--eos")};
    }
    return tokens_of(tokenizer, nullptr, &text, "--eos");
}

bool reads_text(const Config& config) {
    const DataConfig& data = config.data;
    const bool given = !data.path.empty() || !data.mixture.empty();
    return given && !data.is_task() && data.source != DataSource::tokens;
}

void require_text_model(const Tokenizer* tokenizer, std::string_view option) {
    if (tokenizer != nullptr) return;
    throw DataError(
        fmt::format("{}: this model was not trained on the bytes of a text and has no tokenizer.json, its tokens are "
                    "numbers; give them with --ids 5,17,3",
                    option));
}

std::string token_text(const Tokenizer& tokenizer, std::int32_t token) {
    return token >= tokenizer.vocab_size() ? std::string(replacement) : tokenizer.token_bytes(token);
}

std::string TokenPrinter::add(std::int32_t token) {
    if (tokenizer_ == nullptr) return fmt::format("{}{}", std::exchange(first_, false) ? "" : " ", token);
    return add_text(token_text(*tokenizer_, token));
}

std::string TokenPrinter::add_text(std::string_view text) {
    std::string out;
    for (const char byte : text) out += add_byte(static_cast<unsigned char>(byte));
    return out;
}

std::string TokenPrinter::add_byte(unsigned char byte) {
    std::string out;
    const bool continues = !held_.empty() && is_continuation(byte) &&
                           (held_.size() > 1 || may_follow(static_cast<unsigned char>(held_[0]), byte));
    if (!continues) out = flush();
    held_.push_back(static_cast<char>(byte));
    const std::size_t length = character_length(static_cast<unsigned char>(held_[0]));
    if (length == 0) return out + flush();
    if (held_.size() < length) return out;
    const std::string character = std::exchange(held_, "");
    return out + (clean_ && is_control(character) ? std::string(replacement) : character);
}

std::string TokenPrinter::finish() { return flush(); }

/// What was held back turned out to be no character.
std::string TokenPrinter::flush() {
    if (held_.empty()) return "";
    const std::string bytes = std::exchange(held_, "");
    return clean_ ? std::string(replacement) : bytes;
}

}  // namespace causeway::cli
