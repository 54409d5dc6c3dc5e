#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

#include "causeway/error.hpp"
#include "io/tokenizer/bpe_tokenizer.hpp"
#include "io/tokenizer/json_field.hpp"
#include "io/tokenizer/text_frame.hpp"

namespace causeway {
namespace {

/// The value of a text, strictly: a key that appears twice is refused, as everywhere else.
nlohmann::json read_strictly(std::string_view text, const std::string& origin) {
    std::vector<std::unordered_set<std::string>> keys;
    std::string twice;
    const auto look = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& value) {
        using Event = nlohmann::json::parse_event_t;
        if (event == Event::object_start) keys.emplace_back();
        if (event == Event::object_end) keys.pop_back();
        if (event == Event::key && !keys.back().insert(value.get<std::string>()).second && twice.empty()) {
            twice = value.get<std::string>();
        }
        return true;
    };
    nlohmann::json value;
    try {
        value = nlohmann::json::parse(text, look);
    } catch (const nlohmann::json::exception& error) {
        // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
        const std::string_view message = error.what();
        const std::size_t start = message.find("] ");
        throw IoError(fmt::format("{}: is no JSON: {}", origin,
                                  start == std::string_view::npos ? message : message.substr(start + 2)));
    }
    if (!twice.empty()) throw IoError(fmt::format("{}: the key \"{}\" appears twice in an object", origin, twice));
    return value;
}

/// What encode() would have to do to its result, and does not.
void require_no_limits(const JsonField& root) {
    root["truncation"].require_null_or(nullptr, "truncation");
    const JsonField padding = root["padding"];
    if (!padding.is_null() && padding["strategy"].value() != "BatchLongest") {
        padding.refuse("padding to a fixed length is not supported");
    }
}

Vocabulary read_vocabulary(const JsonField& field) {
    if (!field.value().is_object()) field.refuse_value("an object of tokens and their ids");
    Vocabulary vocabulary;
    std::unordered_set<std::int32_t> ids;
    for (const auto& [token, id] : field.value().items()) {
        const std::int32_t number = field[token].id();
        if (!ids.insert(number).second) field.refuse(fmt::format("two tokens have the id {}", number));
        vocabulary.emplace(token, number);
    }
    if (vocabulary.empty()) field.refuse("there are no tokens");
    return vocabulary;
}

/// "a b" or ["a", "b"].
std::pair<std::string, std::string> read_pair(const JsonField& field) {
    constexpr const char* expected = "two tokens: \"a b\" or [\"a\", \"b\"]";
    if (field.value().is_string()) {
        const std::string text = field.text();
        const std::size_t blank = text.find(' ');
        if (blank == std::string::npos || text.find(' ', blank + 1) != std::string::npos) field.refuse_value(expected);
        return {text.substr(0, blank), text.substr(blank + 1)};
    }
    const std::vector<JsonField> pair = field.elements();
    if (pair.size() != 2) field.refuse_value(expected);
    return {pair[0].text(), pair[1].text()};
}

std::vector<BpeMerge> read_merges(const JsonField& field, const Vocabulary& vocabulary) {
    std::vector<BpeMerge> merges;
    for (const JsonField& element : field.elements()) {
        const auto [left, right] = read_pair(element);
        const auto id_of = [&](const std::string& token) {
            const auto found = vocabulary.find(token);
            if (found == vocabulary.end()) element.refuse(fmt::format("\"{}\" is not in the vocabulary", token));
            return found->second;
        };
        merges.push_back({id_of(left), id_of(right), id_of(left + right)});
    }
    return merges;
}

BpeModel read_model(const JsonField& field, bool byte_level) {
    const std::string type = field.type();
    if (type != "BPE" && !(type.empty() && field.value().contains("merges"))) {
        field["type"].refuse(fmt::format("the model \"{}\" is not supported, expected BPE", type));
    }
    if (field["dropout"].value() != 0.0) field["dropout"].require_null_or(nullptr, "dropping merges at random");
    field["continuing_subword_prefix"].require_null_or("", "a prefix of subwords");
    field["end_of_word_suffix"].require_null_or("", "a suffix of words");
    BpeOptions options;
    options.byte_level = byte_level;
    options.ignore_merges = field["ignore_merges"].flag(false);
    options.byte_fallback = field["byte_fallback"].flag(false);
    options.fuse_unk = field["fuse_unk"].flag(false);
    Vocabulary vocabulary = read_vocabulary(field["vocab"]);
    if (const JsonField unk = field["unk_token"]; !unk.is_null()) {
        const auto found = vocabulary.find(unk.text());
        if (found != vocabulary.end()) options.unk = found->second;
        // Where every byte has its token, nothing is unknown.
        else if (!byte_level || !BpeModel(vocabulary, {}, options).knows_all_bytes()) {
            unk.refuse(fmt::format("\"{}\" is not in the vocabulary", unk.text()));
        }
    }
    const std::vector<BpeMerge> merges = read_merges(field["merges"], vocabulary);
    return BpeModel(std::move(vocabulary), merges, options);
}

/// The ids are those that the `tokenizers` package gives: of the vocabulary, otherwise the next after it.
std::vector<AddedToken> read_added(const JsonField& field, const Vocabulary& vocabulary) {
    std::vector<AddedToken> tokens;
    std::set<std::string> contents;
    auto next = static_cast<std::int32_t>(vocabulary.size());
    for (const JsonField& element : field.elements()) {
        AddedToken token;
        token.content = element["content"].text();
        token.id = element["id"].id();
        token.single_word = element["single_word"].flag(false);
        token.lstrip = element["lstrip"].flag(false);
        token.rstrip = element["rstrip"].flag(false);
        token.special = element["special"].flag(false);
        token.normalized = element["normalized"].flag(!token.special);
        if (token.content.empty()) continue;
        if (!contents.insert(token.content).second) element.refuse("the token appears twice");
        const auto found = vocabulary.find(token.content);
        const std::int32_t id = found != vocabulary.end() ? found->second : next;
        if (id != token.id) {
            element.refuse(fmt::format(
                "the token \"{}\" has the id {}, which {}, expected {}", token.content, token.id,
                found != vocabulary.end() ? "is another in the vocabulary" : "is not the next after those before it",
                id));
        }
        next = std::max(next, id + 1);
        tokens.push_back(std::move(token));
    }
    return tokens;
}

}  // namespace

std::shared_ptr<const Tokenizer> parse_tokenizer(std::string_view json, const std::string& origin) {
    return parse_bpe_tokenizer(json, origin);
}

std::shared_ptr<const BpeTokenizer> parse_bpe_tokenizer(std::string_view json, const std::string& origin) {
    const nlohmann::json value = read_strictly(json, origin);
    const JsonField root(value, origin);
    require_no_limits(root);
    Normalizers normalizers = read_normalizers(root["normalizer"]);
    PreTokenizers pre_tokenizers = read_pre_tokenizers(root["pre_tokenizer"]);
    BpeModel model = read_model(root["model"], pre_tokenizers.byte_level);
    std::vector<AddedToken> added = read_added(root["added_tokens"], model.vocabulary());
    TokenDecoder decoder(root["decoder"], pre_tokenizers.byte_level);
    TextFrame frame = read_text_frame(root["post_processor"]);
    try {
        return std::make_shared<BpeTokenizer>(TokenizerParts{std::move(added), std::move(normalizers),
                                                             std::move(pre_tokenizers), std::move(model),
                                                             std::move(decoder), std::move(frame)});
    } catch (const DataError& error) {
        root["added_tokens"].refuse(error.what());
    }
}

}  // namespace causeway
