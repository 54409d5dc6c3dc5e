#include "text.hpp"

#include <charconv>
#include <filesystem>
#include <utility>

#include "base/format.hpp"
#include "base/utf8.hpp"
#include "causeway/error.hpp"
#include "io/run_folder.hpp"
#include "tokenizing.hpp"

namespace causeway::cli {
namespace {

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
    return token >= tokenizer.vocab_size() ? std::string(utf8::replacement) : tokenizer.token_bytes(token);
}

std::string TokenPrinter::add(std::int32_t token) {
    if (tokenizer_ == nullptr) return fmt::format("{}{}", std::exchange(first_, false) ? "" : " ", token);
    return add_text(token_text(*tokenizer_, token));
}

std::string TokenPrinter::add_text(std::string_view text) {
    std::string out;
    for (const char byte : text) out += add_byte(byte);
    return out;
}

std::string TokenPrinter::add_byte(char byte) {
    std::string out;
    if (!utf8::may_begin(held_ + byte)) out = flush();
    held_.push_back(byte);
    if (!utf8::may_begin(held_)) return out + flush();
    const utf8::Decoded found = utf8::decode(held_, 0);
    if (found.bytes == 0) return out;
    const std::string character = std::exchange(held_, "");
    return out + (clean_ && !utf8::is_printable(found.character) ? std::string(utf8::replacement) : character);
}

std::string TokenPrinter::finish() { return flush(); }

/// What was held back turned out to be no character.
std::string TokenPrinter::flush() {
    if (held_.empty()) return "";
    const std::string bytes = std::exchange(held_, "");
    return clean_ ? std::string(utf8::replacement) : bytes;
}

}  // namespace causeway::cli
