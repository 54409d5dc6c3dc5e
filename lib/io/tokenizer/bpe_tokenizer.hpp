#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "io/tokenizer/added_tokens.hpp"
#include "io/tokenizer/bpe_model.hpp"
#include "io/tokenizer/normalizer.hpp"
#include "io/tokenizer/pre_tokenizer.hpp"
#include "io/tokenizer/token_decoder.hpp"
#include "io/tokenizer/tokenizer.hpp"

namespace causeway {

/// What a tokenizer.json is made of.
struct TokenizerParts {
    std::vector<AddedToken> added;
    Normalizers normalizers;
    PreTokenizers pre_tokenizers;
    BpeModel model;
    TokenDecoder decoder;
    TextFrame frame;
};

/// Text in four steps: added tokens are found in the text as it is, what is between them is normalised, added tokens
/// are found in that, and the rest is cut into words, each of which is encoded by itself. Stretches that are not UTF-8
/// are a word each, byte for byte.
class BpeTokenizer final : public Tokenizer {
  public:
    /// Throws DataError for added tokens that cannot be looked for.
    explicit BpeTokenizer(TokenizerParts parts);
    ~BpeTokenizer() override;

    std::int64_t vocab_size() const override { return static_cast<std::int64_t>(tokens_.size()); }
    void encode(std::string_view text, std::vector<std::int32_t>& ids) const override;
    void decode(std::span<const std::int32_t> ids, std::string& text, bool skip_special) const override;
    std::optional<std::int32_t> find(std::string_view token) const override;
    std::string token_bytes(std::int32_t id) const override { return token(id).bytes; }
    bool is_special(std::int32_t id) const override { return token(id).special; }
    const TextFrame& frame() const override { return parts_.frame; }
    std::optional<std::size_t> safe_cut(std::string_view text, std::size_t from) const override;

    /// Gives `out` the words that encode() would encode, each by itself; added tokens and what is no UTF-8 aside.
    void words(std::string_view text, WordSink& out) const;

  private:
    struct Token {
        std::string bytes;
        bool special = false;
    };
    struct State;

    const Token& token(std::int32_t id) const;
    std::unique_ptr<State> take_state() const;
    void make_tokens();
    void make_finders();
    CutRule make_cut_rule() const;
    void keep_state(std::unique_ptr<State> state) const;
    template <class Sink>
    void walk(std::string_view text, State& state, Sink& sink) const;
    template <class Sink>
    void walk_part(std::string_view text, State& state, Sink& sink) const;
    template <class Sink>
    void walk_valid(std::string_view text, State& state, Sink& sink) const;
    std::string_view normalize(std::string_view text, State& state) const;

    TokenizerParts parts_;
    std::vector<Token> tokens_;
    Vocabulary added_ids_;
    AddedTokenFinder raw_finder_, normalized_finder_;
    CutRule cut_rule_ = CutRule::never;
    mutable std::mutex mutex_;
    mutable std::vector<std::unique_ptr<State>> states_;  ///< of the calls that have ended
};

/// What parse_tokenizer gives, by its own type.
std::shared_ptr<const BpeTokenizer> parse_bpe_tokenizer(std::string_view json, const std::string& origin);

}  // namespace causeway
