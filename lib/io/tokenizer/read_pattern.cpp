#include "io/tokenizer/read_pattern.hpp"

#include "causeway/error.hpp"

namespace causeway {

Regex read_pattern(const JsonField& field) {
    const JsonField literal = field["String"], regex = field["Regex"];
    if (literal.is_null() == regex.is_null()) field.refuse_value("{\"Regex\": \"...\"} or {\"String\": \"...\"}");
    const std::string text = literal.is_null() ? regex.text() : literal.text();
    if (text.empty()) field.refuse("an empty pattern is not supported");
    if (text.find('\0') != std::string::npos) field.refuse("a pattern with a zero byte is not supported");
    try {
        return literal.is_null() ? Regex(text) : Regex::literal(text);
    } catch (const DataError& error) {
        (literal.is_null() ? regex : literal).refuse(error.what());
    }
}

}  // namespace causeway
