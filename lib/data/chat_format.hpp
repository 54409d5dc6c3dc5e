#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"

namespace causeway {

/// One message of a conversation.
struct ChatMessage {
    std::string role;  ///< system, user, assistant or tool
    std::string content;
    std::optional<std::string> reasoning = {};  ///< minimind: what an assistant thought before it answered
};

/// A stretch of a conversation as it is written: whole messages, up to where a new one opens. Bytes
/// [scored_begin, scored_end) of the text are what the model is to learn; none when both are 0.
struct ChatText {
    std::string text;
    std::size_t scored_begin = 0, scored_end = 0;
};

/// Writes a conversation in a format; docs/data.md shows each. The texts follow each other. What is scored is what an
/// assistant says, from behind its header to the mark that closes it, with minimind also the newline after that.
/// Throws DataError for a role that the format has no way to write.
std::vector<ChatText> write_chat(ChatFormat format, std::span<const ChatMessage> messages);

/// The marks that open and close a message in the format: a tokenizer must have them as tokens.
std::span<const std::string_view> chat_marks(ChatFormat format);

}  // namespace causeway
