#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "io/tokenizer/text_chunks.hpp"

namespace causeway {

/// Calls `visit` with the text of each document of a chunk of JSON lines: the string `field` of a line's object. Blank
/// lines and a byte order mark are passed over. Throws DataError with `path` and line for what is something else.
void visit_json_lines(const TextChunk& chunk, const std::string& path, const std::string& field,
                      const std::function<void(std::string_view text)>& visit);

}  // namespace causeway
