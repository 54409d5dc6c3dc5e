#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace causeway::cli {

/// What a model reads, as the user gives it: --prompt or --text for models of text, --ids for any model.
/// Exactly one of the two is given. Throws DataError when it is empty.
std::vector<std::int32_t> tokens_of(const std::string* text, const std::string* ids, std::string_view what);

/// True for models trained on the bytes of a text. The tokens of built-in tasks, and those of a model that came from
/// elsewhere, are plain numbers.
bool reads_text(const Config& config);

/// Throws DataError when `option` gives text to a model whose tokens are plain numbers.
void require_text_model(const Config& config, std::string_view option);

/// The bytes of a token of text: one, or U+FFFD for a token that is no byte.
std::string byte_text(std::int32_t token);

/// Turns generated tokens into what can be printed at once. Of a text, a character of several bytes comes out when it
/// is complete; of a task, numbers between blanks.
class TokenPrinter {
  public:
    /// `clean`: for terminals. What is no UTF-8 becomes U+FFFD, and so do control characters (an escape sequence made
    /// up by a model must not reach the terminal) but newline and tab. Otherwise bytes pass unchanged.
    TokenPrinter(bool text, bool clean) : text_(text), clean_(clean) {}

    std::string add(std::int32_t token);
    /// What was held back.
    std::string finish();

  private:
    std::string flush();

    bool text_;
    bool clean_;
    bool first_ = true;
    std::string held_;  ///< beginning of a character
};

}  // namespace causeway::cli
