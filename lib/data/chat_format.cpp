#include "data/chat_format.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {
namespace {

constexpr std::string_view im_start = "<|im_start|>", im_end = "<|im_end|>";
constexpr std::array chatml_marks{im_start, im_end};
constexpr std::array llama3_marks{std::string_view("<|begin_of_text|>"), std::string_view("<|start_header_id|>"),
                                  std::string_view("<|end_header_id|>"), std::string_view("<|eot_id|>")};

// Python's str.strip() takes these away, and so does Jinja's trim.
constexpr std::array<std::string_view, 29> whitespace{
    "\t",           "\n",           "\v",           "\f",           "\r",
    "\x1c",         "\x1d",         "\x1e",         "\x1f",         " ",
    "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81",
    "\xE2\x80\x82", "\xE2\x80\x83", "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86",
    "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8",
    "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};

std::string_view strip(std::string_view text) {
    const auto begins = [&](std::string_view space) { return text.starts_with(space); };
    const auto ends = [&](std::string_view space) { return text.ends_with(space); };
    for (auto at = std::ranges::find_if(whitespace, begins); at != whitespace.end();
         at = std::ranges::find_if(whitespace, begins)) {
        text.remove_prefix(at->size());
    }
    for (auto at = std::ranges::find_if(whitespace, ends); at != whitespace.end();
         at = std::ranges::find_if(whitespace, ends)) {
        text.remove_suffix(at->size());
    }
    return text;
}

std::string_view without_newlines_before(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of('\n'), text.size()));
}

std::string_view without_newlines_after(std::string_view text) {
    return text.substr(0, text.find_last_not_of('\n') + 1);
}

[[noreturn]] void refuse_role(std::string_view role, std::string_view format, std::string_view roles) {
    throw DataError(fmt::format("role \"{}\" has no form in chat format {}, expected one of: {}", role, format, roles));
}

/// A message that is an assistant's is scored from behind its header to behind its closing mark and `scored_after`.
struct MessageForm {
    std::string header, body, close, scored_after, after;
};

ChatText text_of(const MessageForm& form, bool scored) {
    ChatText text{form.header + form.body + form.close + form.scored_after + form.after, 0, 0};
    if (!scored) return text;
    text.scored_begin = form.header.size();
    text.scored_end = text.text.size() - form.after.size();
    return text;
}

std::string chatml_header(std::string_view role) { return fmt::format("{}{}\n", im_start, role); }

/// Answers of tools that follow each other are one message of the user's.
ChatText chatml_tools(std::span<const ChatMessage> messages) {
    std::string text = fmt::format("{}user", im_start);
    for (const ChatMessage& message : messages) {
        text += fmt::format("\n<tool_response>\n{}\n</tool_response>", message.content);
    }
    return {text + fmt::format("{}\n", im_end), 0, 0};
}

/// How ChatML's two kinds write what an assistant says.
using AssistantForm = ChatText (*)(const ChatMessage& message);

std::vector<ChatText> write_chatml(std::span<const ChatMessage> messages, std::string_view name,
                                   AssistantForm assistant) {
    std::vector<ChatText> texts;
    for (std::size_t i = 0; i < messages.size();) {
        const ChatMessage& message = messages[i];
        std::size_t taken = 1;
        if (message.role == "tool") {
            while (i + taken < messages.size() && messages[i + taken].role == "tool") ++taken;
            texts.push_back(chatml_tools(messages.subspan(i, taken)));
        } else if (message.role == "assistant") {
            texts.push_back(assistant(message));
        } else if (message.role == "system" || message.role == "user") {
            texts.push_back(
                text_of({chatml_header(message.role), message.content, std::string(im_end), "", "\n"}, false));
        } else {
            refuse_role(message.role, name, "system, user, assistant, tool");
        }
        i += taken;
    }
    return texts;
}

ChatText qwen_assistant(const ChatMessage& message) {
    if (message.reasoning) throw DataError("reasoning_content has no form in chat format qwen");
    return text_of({chatml_header("assistant"), message.content, std::string(im_end), "", "\n"}, true);
}

/// The thoughts come first, between marks, empty where there are none; they may also stand in the content, up to
/// </think>.
ChatText minimind_assistant(const ChatMessage& message) {
    constexpr std::string_view open = "<think>", close = "</think>";
    std::string_view content = message.content,
                     thoughts = message.reasoning ? std::string_view(*message.reasoning) : "";
    const std::size_t first = content.find(close);
    if (!message.reasoning && first != std::string_view::npos) {
        thoughts = without_newlines_after(content.substr(0, first));
        const std::size_t begin = thoughts.rfind(open);
        if (begin != std::string_view::npos) thoughts.remove_prefix(begin + open.size());
        content.remove_prefix(content.rfind(close) + close.size());
    }
    thoughts = without_newlines_before(without_newlines_after(thoughts));
    const std::string body = fmt::format("{}\n{}\n{}\n\n{}", open, thoughts, close, without_newlines_before(content));
    return text_of({chatml_header("assistant"), body, std::string(im_end), "\n", ""}, true);
}

std::vector<ChatText> write_qwen(std::span<const ChatMessage> messages) {
    return write_chatml(messages, "qwen", qwen_assistant);
}

std::vector<ChatText> write_minimind(std::span<const ChatMessage> messages) {
    return write_chatml(messages, "minimind", minimind_assistant);
}

std::vector<ChatText> write_llama3(std::span<const ChatMessage> messages) {
    constexpr std::array<std::string_view, 3> roles{"system", "user", "assistant"};
    std::vector<ChatText> texts;
    for (const ChatMessage& message : messages) {
        if (std::ranges::find(roles, message.role) == roles.end()) {
            refuse_role(message.role, "llama3", fmt::format("{}", fmt::join(roles, ", ")));
        }
        if (message.reasoning) throw DataError("reasoning_content has no form in chat format llama3");
        const std::string start = texts.empty() ? "<|begin_of_text|>" : "";
        const std::string header = fmt::format("{}<|start_header_id|>{}<|end_header_id|>\n\n", start, message.role);
        texts.push_back(
            text_of({header, std::string(strip(message.content)), "<|eot_id|>", "", ""}, message.role == "assistant"));
    }
    return texts;
}

struct FormatEntry {
    std::vector<ChatText> (*write)(std::span<const ChatMessage>);
    std::span<const std::string_view> marks;
};

/// In the order of ChatFormat.
constexpr std::array<FormatEntry, 3> formats{FormatEntry{write_minimind, chatml_marks},
                                             FormatEntry{write_qwen, chatml_marks},
                                             FormatEntry{write_llama3, llama3_marks}};

}  // namespace

std::vector<ChatText> write_chat(ChatFormat format, std::span<const ChatMessage> messages) {
    return formats.at(static_cast<std::size_t>(format)).write(messages);
}

std::span<const std::string_view> chat_marks(ChatFormat format) {
    return formats.at(static_cast<std::size_t>(format)).marks;
}

}  // namespace causeway
