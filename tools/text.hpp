#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config.hpp"
#include "io/tokenizer/tokenizer.hpp"

namespace causeway::cli {

/// How the tokens of a run's model stand for text: by tokenizer.json of its folder; of models trained on the bytes of a
/// text they are bytes. Null where tokens are plain numbers: those of built-in tasks, and of a model that came without
/// its tokenizer. Throws IoError for the file, DataError when the model has fewer tokens than the tokenizer.
std::shared_ptr<const Tokenizer> text_tokenizer(const std::string& run, const Config& config);

/// What a model reads, as the user gives it: --prompt or --text for models of text, --ids for any model.
/// Exactly one of the two is given, text only with a tokenizer. Throws DataError when it is empty.
std::vector<std::int32_t> tokens_of(const Tokenizer* tokenizer, const std::string* text, const std::string* ids,
                                    std::string_view what);

/// The ids of --eos: numbers such as 5,17, or the name of one token.
std::vector<std::int32_t> eos_tokens(const Tokenizer* tokenizer, const std::string& text);

/// True for models trained on text (of text files, JSONL or chats), as opposed to token files and built-in tasks.
bool reads_text(const Config& config);

/// Throws DataError when `option` gives text to a model whose tokens are plain numbers.
void require_text_model(const Tokenizer* tokenizer, std::string_view option);

/// The bytes of a token of text; U+FFFD for one that the tokenizer does not have, though the model does.
std::string token_text(const Tokenizer& tokenizer, std::int32_t token);

/// Turns generated tokens into what can be printed at once. Of a text, a character of several bytes comes out when it
/// is complete; of a task, numbers between blanks.
class TokenPrinter {
  public:
    /// `clean`: for terminals. What is no UTF-8 becomes U+FFFD, and so do control characters (an escape sequence made
    /// up by a model must not reach the terminal) but newline and tab. Otherwise bytes pass unchanged.
    /// Without a tokenizer tokens are numbers.
    TokenPrinter(std::shared_ptr<const Tokenizer> tokenizer, bool clean)
        : tokenizer_(std::move(tokenizer)), clean_(clean) {}

    std::string add(std::int32_t token);
    /// More bytes of the text.
    std::string add_text(std::string_view text);
    /// What was held back.
    std::string finish();

  private:
    std::string add_byte(char byte);
    std::string flush();

    std::shared_ptr<const Tokenizer> tokenizer_;
    bool clean_;
    bool first_ = true;
    std::string held_;  ///< beginning of a character
};

}  // namespace causeway::cli
