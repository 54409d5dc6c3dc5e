#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/chat_format.hpp"

namespace causeway {

/// Reads a line {"text": "..."}; other keys are passed over. Throws DataError, saying what was found and expected, for
/// what is no JSON or has no text.
std::string read_text_line(std::string_view line);

/// Reads a line {"conversations": [{"role": "...", "content": "..."}, ...]}, or "messages" in place of conversations;
/// other keys are passed over. A message may have "reasoning_content". Throws DataError for what is no JSON or no such
/// list, and for what would have to be written but is not supported: "tools", "functions", "tool_calls".
std::vector<ChatMessage> read_chat_line(std::string_view line);

}  // namespace causeway
