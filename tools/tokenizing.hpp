#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/tokenizer/tokenizer.hpp"

namespace causeway::cli {

/// The id of a token that `option` names; none for an empty name. Throws DataError when there is no such token.
std::optional<std::int32_t> token_named(const Tokenizer& tokenizer, const std::string& name, std::string_view option);

/// A token's bytes in double quotes, on one line: \n, \t, \", \\, and \xNN for what is no printable UTF-8.
std::string quoted_bytes(std::string_view bytes);

/// Prints what was written where: on standard output, or on standard error when `out` is that.
void write_notice(const std::string& text, const std::string& out);

}  // namespace causeway::cli
