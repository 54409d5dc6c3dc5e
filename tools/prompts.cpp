#include "prompts.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "causeway/error.hpp"
#include "text.hpp"

namespace causeway::cli {
namespace {

Prompt from_json(const std::string& line, const std::string& where, const Tokenizer* tokenizer) {
    const auto object = nlohmann::json::parse(line, nullptr, false);
    if (object.is_object()) {
        const auto prompt = object.find("prompt"), ids = object.find("ids");
        if (prompt != object.end() && prompt->is_string() && ids == object.end()) {
            if (tokenizer == nullptr)
                throw DataError(fmt::format("{}: this model's tokens have no text, expected \"ids\"", where));
            const auto bytes = prompt->get<std::string>();
            return tokens_of(tokenizer, &bytes, nullptr, where);
        }
        const auto is_id = [](const auto& id) {
            return id.is_number_integer() && id.template get<std::int64_t>() == id.template get<std::int32_t>();
        };
        if (ids != object.end() && ids->is_array() && prompt == object.end() && std::ranges::all_of(*ids, is_id)) {
            return ids->get<Prompt>();
        }
    }
    throw DataError(
        fmt::format("{}: found {}, expected an object with \"prompt\", a string, or \"ids\", a list of "
                    "token ids",
                    where, line));
}

}  // namespace

std::vector<Prompt> read_prompts(const std::string& path, const Tokenizer* tokenizer) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw IoError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
    const bool objects = path.ends_with(".jsonl");
    std::vector<Prompt> prompts;
    std::string line;
    for (int number = 1; std::getline(file, line); ++number) {
        if (line.ends_with('\r')) line.pop_back();
        if (line.empty()) continue;
        const std::string where = fmt::format("{}, line {}", path, number);
        prompts.push_back(objects                ? from_json(line, where, tokenizer)
                          : tokenizer != nullptr ? tokens_of(tokenizer, &line, nullptr, where)
                                                 : tokens_of(nullptr, nullptr, &line, where));
    }
    if (file.bad()) throw IoError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
    if (prompts.empty()) throw DataError(fmt::format("{}: has no prompts, expected one a line", path));
    return prompts;
}

}  // namespace causeway::cli
