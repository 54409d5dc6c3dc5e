#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/tokenizer/tokenizer.hpp"

namespace causeway::cli {

/// Token ids of a prompt.
using Prompt = std::vector<std::int32_t>;

/// The prompts of a file, one a line; blank lines do not count. With a tokenizer a line is text, without one token ids
/// such as 5,17,3; in a file named *.jsonl it is an object with "prompt" (text) or "ids". Throws IoError for the file,
/// DataError, with the number of the line, for its content.
std::vector<Prompt> read_prompts(const std::string& path, const Tokenizer* tokenizer);

}  // namespace causeway::cli
