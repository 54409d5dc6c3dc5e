#include "data/chat_format.hpp"

#include "causeway/error.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {

using Messages = std::vector<ChatMessage>;

/// The conversation, with what is scored in double braces.
std::string written(ChatFormat format, const Messages& messages) {
    std::string out;
    for (const ChatText& text : write_chat(format, messages)) {
        if (text.scored_end == 0) {
            out += text.text;
            continue;
        }
        out += text.text.substr(0, text.scored_begin) + "{{" +
               text.text.substr(text.scored_begin, text.scored_end - text.scored_begin) + "}}" +
               text.text.substr(text.scored_end);
    }
    return out;
}

const Messages several{
    {"system", "Be brief."}, {"user", "Hi"}, {"assistant", "\n\nHello!\n"}, {"user", "More"}, {"assistant", "Yes"}};

}  // namespace

// The expected texts are those of transformers' apply_chat_template with the template of MiniMind's tokenizer, with
// plain ChatML, and with Llama 3's.

TEST_CASE("chat: ChatML, loss on what the assistant says and its closing mark") {
    CHECK(written(ChatFormat::qwen, several) ==
          "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
          "{{\n\nHello!\n<|im_end|>}}\n<|im_start|>user\nMore<|im_end|>\n<|im_start|>assistant\n{{Yes<|im_end|>}}\n");
}

TEST_CASE("chat: MiniMind writes thoughts, also where there are none, and learns the newline behind an answer") {
    CHECK(written(ChatFormat::minimind, several) ==
          "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
          "{{<think>\n\n</think>\n\nHello!\n<|im_end|>\n}}<|im_start|>user\nMore<|im_end|>\n<|im_start|>assistant\n"
          "{{<think>\n\n</think>\n\nYes<|im_end|>\n}}");
    CHECK(written(ChatFormat::minimind, {{"user", "2+2?"},
                                         {"assistant", "<think>\nadd\n</think>\n\n4"},
                                         {"user", "?"},
                                         {"assistant", "4", "\nagain\n"}}) ==
          "<|im_start|>user\n2+2?<|im_end|>\n<|im_start|>assistant\n{{<think>\nadd\n</think>\n\n4<|im_end|>\n}}"
          "<|im_start|>user\n?<|im_end|>\n<|im_start|>assistant\n{{<think>\nagain\n</think>\n\n4<|im_end|>\n}}");
    CHECK(written(ChatFormat::minimind, {{"user", "a"}, {"system", "b"}, {"assistant", "x</think>y</think>\nz"}}) ==
          "<|im_start|>user\na<|im_end|>\n<|im_start|>system\nb<|im_end|>\n<|im_start|>assistant\n"
          "{{<think>\nx\n</think>\n\nz<|im_end|>\n}}");
    CHECK(written(ChatFormat::minimind, {{"user", "a"}, {"assistant", "x</think>y", ""}}) ==
          "<|im_start|>user\na<|im_end|>\n<|im_start|>assistant\n{{<think>\n\n</think>\n\nx</think>y<|im_end|>\n}}");
}

TEST_CASE("chat: answers of tools that follow each other are one message of the user's") {
    const Messages tools{{"user", "w"}, {"assistant", "call"}, {"tool", "a"},
                         {"tool", "b"}, {"assistant", "done"}, {"tool", "c"}};
    CHECK(written(ChatFormat::minimind, tools) ==
          "<|im_start|>user\nw<|im_end|>\n<|im_start|>assistant\n{{<think>\n\n</think>\n\ncall<|im_end|>\n}}"
          "<|im_start|>user\n<tool_response>\na\n</tool_response>\n<tool_response>\nb\n</tool_response><|im_end|>\n"
          "<|im_start|>assistant\n{{<think>\n\n</think>\n\ndone<|im_end|>\n}}"
          "<|im_start|>user\n<tool_response>\nc\n</tool_response><|im_end|>\n");
    CHECK_THAT(
        written(ChatFormat::qwen, tools),
        contains("{{call<|im_end|>}}\n<|im_start|>user\n<tool_response>\na\n</tool_response>\n<tool_response>\n"));
    CHECK_THROWS_MESSAGE(write_chat(ChatFormat::llama3, tools), DataError,
                         "role \"tool\" has no form in chat format llama3, expected one of: system, user, assistant");
}

TEST_CASE("chat: Llama 3 begins once and strips whitespace around what is said") {
    CHECK(written(ChatFormat::llama3, several) ==
          "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
          "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
          "<|start_header_id|>assistant<|end_header_id|>\n\n{{Hello!<|eot_id|>}}"
          "<|start_header_id|>user<|end_header_id|>\n\nMore<|eot_id|>"
          "<|start_header_id|>assistant<|end_header_id|>\n\n{{Yes<|eot_id|>}}");
    CHECK(written(ChatFormat::llama3, {{"user", "\xE2\x80\x83\x1c a b\xE3\x80\x80\xC2\xA0\n"}}) ==
          "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\na b<|eot_id|>");
    CHECK(written(ChatFormat::llama3, {{"user", " \n\t"}}) ==
          "<|begin_of_text|><|start_header_id|>user<|end_header_id|>\n\n<|eot_id|>");
}

TEST_CASE("chat: what a format has no form for is refused") {
    for (const ChatFormat format : {ChatFormat::minimind, ChatFormat::qwen, ChatFormat::llama3}) {
        CHECK_THROWS_MESSAGE(write_chat(format, Messages{{"bot", "a"}}), DataError, "role \"bot\" has no form");
    }
    CHECK_THROWS_MESSAGE(write_chat(ChatFormat::qwen, Messages{{"assistant", "a", "b"}}), DataError,
                         "reasoning_content has no form in chat format qwen");
    CHECK_THROWS_MESSAGE(write_chat(ChatFormat::llama3, Messages{{"assistant", "a", "b"}}), DataError,
                         "reasoning_content");
}
