#include "data/json_lines.hpp"

#include "causeway/error.hpp"
#include "support/catch.hpp"

using namespace causeway;

TEST_CASE("a text line gives its text, whatever else it has") {
    CHECK(read_text_line(R"({"text": "a\nb\u00e9\ud83d\ude00"})") == "a\nb\xC3\xA9\xF0\x9F\x98\x80");
    CHECK(read_text_line("{\"id\": [1, {}], \"text\": \"\"}\r") == "");
}

TEST_CASE("B60: lines that are no text are refused with what was found") {
    CHECK_THROWS_MESSAGE(read_text_line("{\"text\": \"a\"} x"), DataError, "is no JSON from column 15 on");
    CHECK_THROWS_MESSAGE(read_text_line("{'text': 1}"), DataError, "is no JSON from column 2 on");
    CHECK_THROWS_MESSAGE(read_text_line("{\"text\": \"\xff\"}"), DataError, "is no JSON");
    CHECK_THROWS_MESSAGE(read_text_line("{\"text\": NaN}"), DataError, "is no JSON");
    CHECK_THROWS_MESSAGE(read_text_line("[1]"), DataError, "is array, expected an object");
    CHECK_THROWS_MESSAGE(read_text_line("{\"txt\": \"a\"}"), DataError, "has no \"text\", expected a string");
    CHECK_THROWS_MESSAGE(read_text_line("{\"text\": 5}"), DataError, "\"text\" of the line is number");
    CHECK_THROWS_MESSAGE(read_text_line("{\"a\": 1e999}"), DataError, "number too large");
    CHECK_THROWS_MESSAGE(read_text_line(std::string(100'000, '[')), DataError, "is nested more than 64 deep");
}

TEST_CASE("a chat line gives its messages under both names") {
    const auto messages = read_chat_line(
        R"({"conversations": [{"role": "user", "content": "a", "id": 3, "tool_calls": null},
                              {"role": "assistant", "content": "b", "reasoning_content": "c", "tools": ""}]})");
    REQUIRE(messages.size() == 2);
    CHECK(messages[0].role == "user");
    CHECK_FALSE(messages[0].reasoning);
    CHECK(messages[1].content == "b");
    CHECK(messages[1].reasoning == "c");
    CHECK(read_chat_line(R"({"messages": [{"role": "user", "content": ""}], "tools": []})").size() == 1);
}

TEST_CASE("chat lines that cannot be written are refused with the message's number") {
    CHECK_THROWS_MESSAGE(read_chat_line("{}"), DataError, "has no \"conversations\" or \"messages\"");
    CHECK_THROWS_MESSAGE(read_chat_line(R"({"messages": []})"), DataError, "\"messages\" is an empty array");
    CHECK_THROWS_MESSAGE(read_chat_line(R"({"messages": {}})"), DataError, "\"messages\" is object");
    CHECK_THROWS_MESSAGE(read_chat_line(R"({"messages": [3]})"), DataError, "message 0 is number");
    CHECK_THROWS_MESSAGE(read_chat_line(R"({"messages": [{"role": "user", "content": "a"}, {"from": "b"}]})"),
                         DataError, "message 1 has no \"role\"");
    CHECK_THROWS_MESSAGE(read_chat_line(R"({"messages": [{"role": "user", "content": null}]})"), DataError,
                         "\"content\" of message 0 is null, expected a string");
    CHECK_THROWS_MESSAGE(
        read_chat_line(R"({"messages": [{"role": "assistant", "content": "", "tool_calls": [{"name": "f"}]}]})"),
        DataError, "message 0 has \"tool_calls\", which is not supported");
    CHECK_THROWS_MESSAGE(read_chat_line(R"({"tools": "[{}]", "messages": []})"), DataError, "the line has \"tools\"");
}
