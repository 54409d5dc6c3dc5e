#include "io/tokenizer/document_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/format.hpp"
#include "base/utf8.hpp"
#include "causeway/error.hpp"

namespace causeway {
namespace {

std::string text_of(std::string_view line, const std::string& name, const std::string& where) {
    const auto object = nlohmann::json::parse(line, nullptr, false);
    if (!object.is_object()) throw DataError(fmt::format("{}: is no JSON object", where));
    const auto field = object.find(name);
    if (field == object.end()) throw DataError(fmt::format("{}: has no \"{}\"", where, name));
    if (!field->is_string()) throw DataError(fmt::format("{}: \"{}\" is no string", where, name));
    return field->get<std::string>();
}

}  // namespace

void visit_json_lines(const TextChunk& chunk, const std::string& path, const std::string& field,
                      const std::function<void(std::string_view text)>& visit) {
    std::string_view rest = chunk.first ? utf8::without_byte_order_mark(chunk.text) : chunk.text;
    for (std::uint64_t number = chunk.lines + 1; !rest.empty(); ++number) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        visit(text_of(line, field, fmt::format("{}, line {}", path, number)));
    }
}

}  // namespace causeway
