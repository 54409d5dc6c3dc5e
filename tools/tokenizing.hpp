#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.hpp"
#include "io/tokenizer/tokenizer.hpp"

namespace causeway::cli {

/// The id of a token that `option` names; none for an empty name. Throws DataError when there is no such token.
std::optional<std::int32_t> token_named(const Tokenizer& tokenizer, const std::string& name, std::string_view option);

/// The tokenizer of a run that was given text or, with `text_given` false, ids: then one that cannot be read costs no
/// more than a warning of `command`, and tokens are numbers. Throws as text_tokenizer does.
std::shared_ptr<const Tokenizer> tokenizer_for(std::string_view command, const std::string& run, const Config& config,
                                               bool text_given);

/// A token's bytes in double quotes, on one line: \n, \t, \", \\, and \xNN for what is no printable UTF-8.
std::string quoted_bytes(std::string_view bytes);

/// Prints what was written where: on standard output, or on standard error when `out` is that.
void write_notice(const std::string& text, const std::string& out);

}  // namespace causeway::cli
