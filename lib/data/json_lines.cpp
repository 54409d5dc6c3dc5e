#include "data/json_lines.hpp"

#include <nlohmann/json.hpp>

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {
namespace {

using Json = nlohmann::json;

constexpr int deepest = 64;  // no data set nests its objects like this; the parser would follow until the stack ends

/// Stops at what is nested too deeply.
bool is_shallow(int depth, Json::parse_event_t, Json&) {
    if (depth > deepest) throw DataError(fmt::format("is nested more than {} deep", deepest));
    return true;
}

Json parse_object(std::string_view line) {
    Json value;
    try {
        value = Json::parse(line.begin(), line.end(), is_shallow);
    } catch (const Json::parse_error& error) {
        throw DataError(fmt::format("is no JSON from column {} on", error.byte));
    } catch (const Json::out_of_range&) {
        throw DataError("holds a number too large for a double");
    }
    if (!value.is_object()) throw DataError(fmt::format("is {}, expected an object", value.type_name()));
    return value;
}

/// The string under a key of an object called `where`.
std::string take_string(Json& object, const char* key, const std::string& where) {
    const auto found = object.find(key);
    if (found == object.end()) throw DataError(fmt::format("{} has no \"{}\", expected a string", where, key));
    if (!found->is_string()) {
        throw DataError(fmt::format("\"{}\" of {} is {}, expected a string", key, where, found->type_name()));
    }
    return std::move(found->get_ref<std::string&>());
}

bool says_something(const Json& value) {
    return !value.is_null() && !value.empty() && value != Json("") && value != Json("[]") && value != Json(false);
}

/// What a chat template would write into the conversation.
void refuse_tools(const Json& object, const std::string& where) {
    for (const char* key : {"tools", "functions", "tool_calls", "function_call"}) {
        const auto found = object.find(key);
        if (found == object.end() || !says_something(*found)) continue;
        throw DataError(fmt::format("{} has \"{}\", which is not supported: write calls into the content", where, key));
    }
}

ChatMessage read_message(Json& value, std::size_t index) {
    const std::string where = fmt::format("message {}", index);
    if (!value.is_object()) throw DataError(fmt::format("{} is {}, expected an object", where, value.type_name()));
    refuse_tools(value, where);
    ChatMessage message{take_string(value, "role", where), take_string(value, "content", where), {}};
    const auto reasoning = value.find("reasoning_content");
    if (reasoning != value.end() && !reasoning->is_null()) {
        message.reasoning = take_string(value, "reasoning_content", where);
    }
    return message;
}

}  // namespace

std::string read_text_line(std::string_view line) {
    Json object = parse_object(line);
    return take_string(object, "text", "the line");
}

std::vector<ChatMessage> read_chat_line(std::string_view line) {
    Json object = parse_object(line);
    refuse_tools(object, "the line");
    auto list = object.find("conversations");
    if (list == object.end()) list = object.find("messages");
    if (list == object.end()) throw DataError("the line has no \"conversations\" or \"messages\", expected a list");
    if (!list->is_array() || list->empty()) {
        throw DataError(fmt::format("\"{}\" is {}, expected a list with messages", list.key(),
                                    list->is_array() ? "an empty array" : list->type_name()));
    }
    std::vector<ChatMessage> messages;
    for (Json& value : *list) messages.push_back(read_message(value, messages.size()));
    return messages;
}

}  // namespace causeway
