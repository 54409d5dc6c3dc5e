#include "config/mistake.hpp"

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway::config {
namespace {

constexpr std::size_t longest_shown = 80;

/// A JSON number in quotes is the commonest wrong type; say what to do about it.
std::string_view quotes_hint(const Json& value) {
    if (!value.is_string()) return "";
    const Json inner = Json::parse(value.get_ref<const std::string&>(), nullptr, false);
    return inner.is_number() || inner.is_boolean() ? "; remove the quotes" : "";
}

}  // namespace

Where inside(const Where& where, const std::string& key) {
    return {where.path.empty() ? key : where.path + "." + key, where.origin};
}

void fail(const Where& where, std::string_view problem) {
    throw ConfigError(one_line(fmt::format("{}: {} (in {})", where.path, problem, where.origin)));
}

void fail_value(const Where& where, const Json& value, std::string_view allowed, std::string_view hint) {
    const std::string_view kind = value.is_string() ? "the string " : "";
    fail(where, fmt::format("found {}{}, expected {}{}", kind, describe(value), allowed,
                            hint.empty() ? quotes_hint(value) : hint));
}

std::string one_line(std::string_view message) {
    std::string line;
    for (char c : message) {
        const auto byte = static_cast<unsigned char>(c);
        line += byte < 0x20 || byte == 0x7F ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
    }
    return line;
}

std::string describe(const Json& value) {
    if (value.is_array()) return "an array";
    if (value.is_object()) return "an object";
    // NaN and infinity only come from configs made in C++; dump() would show them as null.
    if (value.is_number_float()) return fmt::format("{}", value.get<double>());
    const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (text.size() <= longest_shown) return text;
    std::size_t end = longest_shown;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) --end;  // not inside a character
    return text.substr(0, end) + "...\"";
}

}  // namespace causeway::config
