#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace causeway {

/// A value of a tokenizer.json, and where it stands: what cannot be used is an IoError "<file>: <path>: ...".
class JsonField {
  public:
    /// The value must outlive the field and those made of it.
    JsonField(const nlohmann::json& value, std::string file, std::string path = "")
        : value_(&value), file_(std::move(file)), path_(std::move(path)) {}

    const nlohmann::json& value() const { return *value_; }
    bool is_null() const { return value_->is_null(); }

    /// A member of this object; null when there is none. Throws IoError when this is no object.
    JsonField operator[](const std::string& key) const;
    /// The elements of this array, or none of a null.
    std::vector<JsonField> elements() const;

    std::string text() const;
    std::int32_t id() const;
    /// Of a flag that may be missing or null.
    bool flag(bool otherwise) const;
    /// The member "type"; empty when there is none.
    std::string type() const;

    /// Throws IoError: what is wrong with this value.
    [[noreturn]] void refuse(std::string_view problem) const;
    [[noreturn]] void refuse_value(std::string_view expected) const;
    /// Throws IoError unless the value is one of those that change nothing.
    void require_null_or(const nlohmann::json& harmless, std::string_view what) const;

  private:
    const nlohmann::json* value_;
    std::string file_;
    std::string path_;
};

/// Whether it is a number that can be a token id.
bool is_token_id(const nlohmann::json& value);

}  // namespace causeway
