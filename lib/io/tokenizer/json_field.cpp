#include "io/tokenizer/json_field.hpp"

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {
namespace {

const nlohmann::json null;

constexpr std::int32_t largest_id = (1 << 24) - 1;  // tables of all tokens are made

std::string shortened(const nlohmann::json& value) {
    constexpr std::size_t most = 60;
    std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    if (text.size() > most) text = text.substr(0, most) + "...";
    return text;
}

}  // namespace

JsonField JsonField::operator[](const std::string& key) const {
    if (!value_->is_object()) refuse_value("an object");
    const auto found = value_->find(key);
    return {found == value_->end() ? null : *found, file_, path_.empty() ? key : path_ + "." + key};
}

std::vector<JsonField> JsonField::elements() const {
    std::vector<JsonField> result;
    if (is_null()) return result;
    if (!value_->is_array()) refuse_value("a list");
    for (std::size_t i = 0; i < value_->size(); ++i) {
        result.emplace_back((*value_)[i], file_, fmt::format("{}[{}]", path_, i));
    }
    return result;
}

std::string JsonField::text() const {
    if (!value_->is_string()) refuse_value("a string");
    return value_->get<std::string>();
}

bool is_token_id(const nlohmann::json& value) {
    return value.is_number_unsigned() && value.get<std::uint64_t>() <= static_cast<std::uint64_t>(largest_id);
}

std::int32_t JsonField::id() const {
    if (!is_token_id(*value_)) refuse_value(fmt::format("a token id from 0 to {}", largest_id));
    return value_->get<std::int32_t>();
}

bool JsonField::flag(bool otherwise) const {
    if (is_null()) return otherwise;
    if (!value_->is_boolean()) refuse_value("true or false");
    return value_->get<bool>();
}

std::string JsonField::type() const {
    const JsonField type = (*this)["type"];
    return type.is_null() ? "" : type.text();
}

void JsonField::refuse(std::string_view problem) const {
    throw IoError(path_.empty() ? fmt::format("{}: {}", file_, problem)
                                : fmt::format("{}: {}: {}", file_, path_, problem));
}

void JsonField::refuse_value(std::string_view expected) const {
    refuse(fmt::format("found {}, expected {}", shortened(*value_), expected));
}

void JsonField::require_null_or(const nlohmann::json& harmless, std::string_view what) const {
    if (!is_null() && *value_ != harmless) {
        refuse(fmt::format("found {}: {} is not supported", shortened(*value_), what));
    }
}

}  // namespace causeway
