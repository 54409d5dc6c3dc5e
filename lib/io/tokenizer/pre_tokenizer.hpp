#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "io/tokenizer/json_field.hpp"
#include "io/tokenizer/regex.hpp"

namespace causeway {

/// Takes the words of a text in order.
class WordSink {
  public:
    virtual ~WordSink() = default;
    /// `word` is not empty, and valid during the call only.
    virtual void word(std::string_view word) = 0;
};

/// Where a text may be cut without changing its words.
enum class CutRule {
    never,        ///< not known
    at_blank,     ///< between a character that is no blank and a blank
    line_or_word  ///< between an ASCII letter or digit and a blank, or behind a line end, before what is no blank
};

/// A way to cut text into words. Thread-safe.
class PreTokenizer {
  public:
    virtual ~PreTokenizer() = default;
    /// Gives the words of `text`, valid UTF-8 and not empty, to `out`.
    virtual void split(std::string_view text, RegexScratch& scratch, WordSink& out) const = 0;
    virtual CutRule cut_rule() const = 0;
};

struct PreTokenizers {
    /// Each cuts the pieces of the one before it.
    std::vector<std::unique_ptr<PreTokenizer>> stages;
    bool byte_level = false;  ///< words are bytes, and so are the tokens of the vocabulary

    void split(std::string_view text, RegexScratch& scratch, WordSink& out) const;
    CutRule cut_rule() const;
};

/// Of the field "pre_tokenizer" of a tokenizer.json: null, ByteLevel, Split, Digits or a Sequence of such, in which
/// ByteLevel is the last. Throws IoError for others.
PreTokenizers read_pre_tokenizers(const JsonField& field);

}  // namespace causeway
