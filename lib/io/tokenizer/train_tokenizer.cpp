#include "io/tokenizer/train_tokenizer.hpp"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "base/format.hpp"
#include "base/utf8.hpp"
#include "causeway/error.hpp"
#include "io/tokenizer/bpe_tokenizer.hpp"
#include "io/tokenizer/byte_level.hpp"
#include "io/tokenizer/document_text.hpp"
#include "io/tokenizer/in_order.hpp"
#include "io/tokenizer/known_pattern.hpp"
#include "io/tokenizer/merge_learner.hpp"
#include "io/tokenizer/text_chunks.hpp"

namespace causeway {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t chunk_bytes = std::size_t{1} << 21;
constexpr std::size_t byte_count = 256;

/// Bytes in the order of the characters they are written as, which is that of their ids.
std::vector<unsigned char> bytes_in_order() {
    std::vector<unsigned char> bytes(byte_count);
    for (std::size_t i = 0; i < byte_count; ++i) bytes[i] = static_cast<unsigned char>(i);
    std::ranges::sort(bytes, {}, [](unsigned char byte) { return byte_level::characters()[byte]; });
    return bytes;
}

Json byte_level_part(bool use_regex) {
    return {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", use_regex}};
}

/// GPT-2's pattern is a part of ByteLevel, others stand before it.
Json pre_tokenizer_part(const std::string& pattern) {
    const KnownPattern* const known = find_pattern_named(pattern);
    const std::string regex = known != nullptr ? std::string(known->pattern) : pattern;
    if (regex == gpt2_pattern) return byte_level_part(true);
    const Json split{{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}, {"invert", false}};
    return {{"type", "Sequence"}, {"pretokenizers", Json::array({split, byte_level_part(false)})}};
}

Json special_part(std::int32_t id, const std::string& content) {
    return {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
            {"rstrip", false}, {"normalized", false}, {"special", true}};
}

/// A tokenizer.json of the special tokens, the bytes, and what was learned.
Json file_of(const TrainTokenizerOptions& options, const LearnedMerges& learned) {
    Json vocabulary = Json::object();
    std::vector<std::string> names;  // by id
    const auto add = [&](std::string name) { names.push_back(std::move(name)); };
    Json added = Json::array();
    for (const std::string& token : options.special_tokens) {
        added.push_back(special_part(static_cast<std::int32_t>(names.size()), token));
        add(token);
    }
    for (const unsigned char byte : bytes_in_order()) {
        add(byte_level::to_text(std::string(1, static_cast<char>(byte))));
    }
    for (const std::string& token : learned.tokens) add(byte_level::to_text(token));
    // filled at once: an ordered object looks through all its keys for each new one
    auto& members = vocabulary.get_ref<Json::object_t&>();
    for (std::size_t id = 0; id < names.size(); ++id) members.Container::emplace_back(names[id], id);
    Json merges = Json::array();
    for (const BpeMerge& merge : learned.merges) {
        // no byte is written as a blank
        merges.push_back(names[static_cast<std::size_t>(merge.left)] + " " +
                         names[static_cast<std::size_t>(merge.right)]);
    }
    const Json normalizer = options.nfc ? Json{{"type", "NFC"}} : Json(nullptr);
    const Json model{{"type", "BPE"},
                     {"dropout", nullptr},
                     {"unk_token", nullptr},
                     {"continuing_subword_prefix", nullptr},
                     {"end_of_word_suffix", nullptr},
                     {"fuse_unk", false},
                     {"byte_fallback", false},
                     {"ignore_merges", false},
                     {"vocab", std::move(vocabulary)},
                     {"merges", std::move(merges)}};
    return {{"version", "1.0"},
            {"truncation", nullptr},
            {"padding", nullptr},
            {"added_tokens", std::move(added)},
            {"normalizer", normalizer},
            {"pre_tokenizer", pre_tokenizer_part(options.pattern)},
            {"post_processor", byte_level_part(true)},
            {"decoder", byte_level_part(true)},
            {"model", model}};
}

void check_options(const TrainTokenizerOptions& options) {
    constexpr std::int64_t most = std::int64_t{1} << 24;
    const auto least = static_cast<std::int64_t>(byte_count + options.special_tokens.size());
    if (options.vocab_size < least || options.vocab_size > most) {
        throw ConfigError(fmt::format("vocab_size: found {}, expected {} (the bytes and the special tokens) to {}",
                                      options.vocab_size, least, most));
    }
    std::set<std::string> seen;
    for (const std::string& token : options.special_tokens) {
        if (token.empty()) throw ConfigError("special tokens: one is empty");
        if (utf8::valid_prefix(token) != token.size()) throw ConfigError("special tokens: one is not UTF-8");
        if (!seen.insert(token).second) throw ConfigError(fmt::format("special tokens: \"{}\" is given twice", token));
        const auto bytes = byte_level::to_bytes(token);
        if (bytes && bytes->size() == 1) {
            throw ConfigError(fmt::format("special tokens: \"{}\" is how a byte is written", token));
        }
    }
}

class WordCounter final : public WordSink {
  public:
    void word(std::string_view word) override {
        const auto found = counts.find(word);
        if (found != counts.end()) {
            ++found->second;
        } else {
            counts.emplace(word, 1);
        }
    }
    WordCounts counts;
};

struct CountedChunk {
    WordCounts words;
    std::uint64_t bytes = 0;
};

/// The tokenizer that cuts the text: it has all parts but the merges.
std::shared_ptr<const BpeTokenizer> cutter_for(const TrainTokenizerOptions& options) {
    try {
        return parse_bpe_tokenizer(file_of(options, {}).dump(), "pattern");
    } catch (const IoError& error) {
        throw ConfigError(error.what());
    }
}

LearnedMerges learn(const WordCounts& words, const TrainTokenizerOptions& options) {
    Vocabulary taken;
    std::int32_t next = 0;
    for (const std::string& token : options.special_tokens) {
        if (const auto bytes = byte_level::to_bytes(token)) taken.emplace(*bytes, next);
        ++next;
    }
    std::vector<std::int32_t> byte_ids(byte_count);
    for (const unsigned char byte : bytes_in_order()) byte_ids[byte] = next++;
    const auto most = static_cast<std::size_t>(options.vocab_size - next);
    return learn_merges(words, byte_ids, taken, next, most, options.min_frequency);
}

}  // namespace

TrainedTokenizer train_tokenizer(const std::vector<std::string>& paths, const TrainTokenizerOptions& options,
                                 const std::function<void(std::uint64_t bytes)>& progress) {
    check_options(options);
    const auto cutter = cutter_for(options);
    TextChunks chunks(paths, *cutter, options.jsonl ? TextChunks::Cut::lines : TextChunks::Cut::safe, chunk_bytes);
    const auto count = [&](const TextChunk& chunk) {
        WordCounter counter;
        if (options.jsonl) {
            visit_json_lines(chunk, paths[chunk.input], options.field,
                             [&](std::string_view text) { cutter->words(text, counter); });
        } else {
            cutter->words(chunk.text, counter);
        }
        return CountedChunk{std::move(counter.counts), chunk.text.size()};
    };
    TrainedTokenizer result;
    WordCounts words;
    in_order(
        options.threads, [&] { return chunks.next(); }, count,
        [&](CountedChunk&& counted) {
            for (const auto& [word, occurrences] : counted.words) words[word] += occurrences;
            result.bytes += counted.bytes;
            if (progress) progress(result.bytes);
        });
    const LearnedMerges learned = learn(words, options);
    result.words = words.size();
    result.vocab_size = static_cast<std::int64_t>(options.special_tokens.size() + byte_count + learned.tokens.size());
    result.json = file_of(options, learned).dump(1, ' ') + "\n";
    return result;
}

}  // namespace causeway
