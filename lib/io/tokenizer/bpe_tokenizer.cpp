#include "io/tokenizer/bpe_tokenizer.hpp"

#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "base/utf8.hpp"
#include "causeway/error.hpp"
#include "io/tokenizer/word_cache.hpp"

namespace causeway {

/// What one call of encode works with.
struct BpeTokenizer::State {
    RegexScratch regex;
    WordCache cache;
    BpeModel::Scratch merging;
    std::string normalized, unfinished;
};

namespace {

/// Encodes each word, or finds it among those met before.
class WordEncoder final : public WordSink {
  public:
    WordEncoder(const BpeModel& model, WordCache& cache, BpeModel::Scratch& scratch, std::vector<std::int32_t>& ids)
        : model_(model), cache_(cache), scratch_(scratch), ids_(ids) {}

    void word(std::string_view word) override {
        if (word.size() > WordCache::longest_word) return model_.encode(word, scratch_, ids_);
        if (cache_.append(word, ids_)) return;
        const std::size_t before = ids_.size();
        model_.encode(word, scratch_, ids_);
        cache_.keep(word, ids_.data() + before, ids_.size() - before);
    }
    void added(std::int32_t id) { ids_.push_back(id); }
    void invalid(std::string_view bytes) { model_.encode(bytes, scratch_, ids_); }

  private:
    const BpeModel& model_;
    WordCache& cache_;
    BpeModel::Scratch& scratch_;
    std::vector<std::int32_t>& ids_;
};

class WordsOnly final : public WordSink {
  public:
    explicit WordsOnly(WordSink& out) : out_(out) {}
    void word(std::string_view word) override { out_.word(word); }
    void added(std::int32_t) {}
    void invalid(std::string_view) {}

  private:
    WordSink& out_;
};

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_alphanumeric(char c) { return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'); }

/// Whether the text may be cut between two characters, see CutRule.
bool may_cut(CutRule rule, char before, char after) {
    const bool ascii = static_cast<unsigned char>(before) < 0x80 && static_cast<unsigned char>(after) < 0x80;
    if (!ascii) return false;  // rare enough as a neighbour of a blank to do without
    if (rule == CutRule::at_blank) return !is_blank(before) && is_blank(after);
    return (is_alphanumeric(before) && is_blank(after)) || (before == '\n' && !is_blank(after));
}

}  // namespace

BpeTokenizer::BpeTokenizer(TokenizerParts parts) : parts_(std::move(parts)) {
    make_tokens();
    make_finders();
    cut_rule_ = make_cut_rule();
}

BpeTokenizer::~BpeTokenizer() = default;

void BpeTokenizer::make_tokens() {
    std::int32_t last = -1;
    for (const auto& [text, id] : parts_.model.vocabulary()) last = std::max(last, id);
    for (const AddedToken& token : parts_.added) last = std::max(last, token.id);
    tokens_.resize(static_cast<std::size_t>(last) + 1);
    for (const auto& [text, id] : parts_.model.vocabulary()) {
        tokens_[static_cast<std::size_t>(id)].bytes = parts_.decoder.bytes_of(text);
    }
    for (const AddedToken& token : parts_.added) {
        tokens_[static_cast<std::size_t>(token.id)] = {token.content, token.special};
        added_ids_.emplace(token.content, token.id);
    }
}

void BpeTokenizer::make_finders() {
    State state;
    for (const bool special : {true, false}) {  // of two with the same pattern a special one counts
        for (const AddedToken& token : parts_.added) {
            if (token.special != special) continue;
            const std::string pattern(token.normalized ? normalize(token.content, state) : token.content);
            if (pattern.empty()) {
                throw DataError(fmt::format("the added token \"{}\" is empty once normalised", token.content));
            }
            if (token.normalized) tokens_[static_cast<std::size_t>(token.id)].bytes = pattern;
            (token.normalized ? normalized_finder_ : raw_finder_).add(pattern, token);
        }
    }
}

/// A cut is safe where the pattern cuts anyway, as long as nothing else reaches across: no normalizer that looks at
/// more than a character and its marks, and no added token that would be torn apart or take blanks of the other side.
CutRule BpeTokenizer::make_cut_rule() const {
    const CutRule rule = parts_.pre_tokenizers.cut_rule();
    if (!std::ranges::all_of(parts_.normalizers, [](const auto& step) { return step->is_local(); })) {
        return CutRule::never;
    }
    for (const AddedToken& token : parts_.added) {
        const std::string& pattern = tokens_[static_cast<std::size_t>(token.id)].bytes;
        // By lines a cut may have a blank on either side, otherwise only on the right one.
        if (token.rstrip || (token.lstrip && rule != CutRule::at_blank)) return CutRule::never;
        // A blank at its end may be where the cut is, and then its neighbour is not seen.
        if (token.single_word && (is_blank(pattern.front()) || is_blank(pattern.back()))) return CutRule::never;
        for (std::size_t i = 1; i < pattern.size(); ++i) {
            if (may_cut(rule, pattern[i - 1], pattern[i])) return CutRule::never;
        }
    }
    return rule;
}

std::unique_ptr<BpeTokenizer::State> BpeTokenizer::take_state() const {
    const std::lock_guard lock(mutex_);
    if (states_.empty()) return std::make_unique<State>();
    std::unique_ptr<State> state = std::move(states_.back());
    states_.pop_back();
    return state;
}

void BpeTokenizer::keep_state(std::unique_ptr<State> state) const {
    const std::lock_guard lock(mutex_);
    states_.push_back(std::move(state));
}

template <class Sink>
void BpeTokenizer::walk(std::string_view text, State& state, Sink& sink) const {
    AddedTokenFinder::Position position;
    while (const auto span = raw_finder_.next(text, position)) {
        if (span->id) {
            sink.added(*span->id);
        } else {
            walk_part(span->text, state, sink);
        }
    }
}

/// Between two added tokens.
template <class Sink>
void BpeTokenizer::walk_part(std::string_view text, State& state, Sink& sink) const {
    while (!text.empty()) {
        const std::size_t valid = utf8::valid_prefix(text);
        if (valid > 0) walk_valid(text.substr(0, valid), state, sink);
        text.remove_prefix(valid);
        const std::size_t invalid = utf8::invalid_prefix(text);
        if (invalid > 0) sink.invalid(text.substr(0, invalid));
        text.remove_prefix(invalid);
    }
}

template <class Sink>
void BpeTokenizer::walk_valid(std::string_view text, State& state, Sink& sink) const {
    const std::string_view normalized = normalize(text, state);
    AddedTokenFinder::Position position;
    while (const auto span = normalized_finder_.next(normalized, position)) {
        if (span->id) {
            sink.added(*span->id);
        } else if (!span->text.empty()) {
            parts_.pre_tokenizers.split(span->text, state.regex, sink);
        }
    }
}

void BpeTokenizer::encode(std::string_view text, std::vector<std::int32_t>& ids) const {
    std::unique_ptr<State> state = take_state();
    WordEncoder encoder(parts_.model, state->cache, state->merging, ids);
    walk(text, *state, encoder);
    keep_state(std::move(state));
}

void BpeTokenizer::words(std::string_view text, WordSink& out) const {
    std::unique_ptr<State> state = take_state();
    WordsOnly words(out);
    walk(text, *state, words);
    keep_state(std::move(state));
}

/// The text itself or state.normalized.
std::string_view BpeTokenizer::normalize(std::string_view text, State& state) const {
    for (const auto& step : parts_.normalizers) {
        if (text.empty() || step->keeps(text)) continue;
        state.unfinished.clear();
        step->normalize(text, state.regex, state.unfinished);
        std::swap(state.normalized, state.unfinished);
        text = state.normalized;
    }
    return text;
}

const BpeTokenizer::Token& BpeTokenizer::token(std::int32_t id) const {
    if (id < 0 || static_cast<std::size_t>(id) >= tokens_.size()) {
        throw DataError(fmt::format("token {} is outside [0, {}), the tokenizer's vocabulary", id, tokens_.size()));
    }
    return tokens_[static_cast<std::size_t>(id)];
}

void BpeTokenizer::decode(std::span<const std::int32_t> ids, std::string& text, bool skip_special) const {
    std::string decoded;
    for (const std::int32_t id : ids) {
        const Token& one = token(id);
        if (!skip_special || !one.special) decoded += one.bytes;
    }
    std::string_view rest = decoded;
    parts_.decoder.strip_start(rest);
    text += rest;
}

std::optional<std::int32_t> BpeTokenizer::find(std::string_view token) const {
    for (const Vocabulary* vocabulary : {&added_ids_, &parts_.model.vocabulary()}) {
        if (const auto found = vocabulary->find(token); found != vocabulary->end()) return found->second;
    }
    return std::nullopt;
}

std::optional<std::size_t> BpeTokenizer::safe_cut(std::string_view text, std::size_t from) const {
    if (cut_rule_ == CutRule::never) return std::nullopt;
    for (std::size_t at = std::max<std::size_t>(from, 1); at < text.size(); ++at) {
        if (may_cut(cut_rule_, text[at - 1], text[at])) return at;
    }
    return std::nullopt;
}

}  // namespace causeway
