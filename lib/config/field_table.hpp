#pragma once

#include <string>
#include <vector>

#include "config/field.hpp"

namespace causeway::config {

/// Every field there is, by section, in the order they are written. The parser, overrides, to_json, the JSON Schema and
/// the reference in docs/config.md all read this table, and nothing else knows the fields one by one.
const std::vector<Section>& field_table();

/// The section or field of that name, or null.
const Section* find_section(const std::string& name);
const Field* find_field(const Section& section, const std::string& key);

/// True when fields of the section are inside an object of that name.
bool is_object_of(const Section& section, const std::string& name);
/// Where the field's value stands in its section: "object.key" is a key inside an object.
Json::json_pointer pointer_to(const Field& field);

/// The section that has a field of that name, or null.
const Section* section_with_field(const std::string& key);

/// Fails for a key that is no field of `section`: names the section it belongs to, or the nearest name, and the fields
/// there are.
[[noreturn]] void fail_unknown_field(const Section& section, const std::string& key, const std::string& origin);

/// The same for a key at the top level, where only sections stand.
[[noreturn]] void fail_unknown_section(const std::string& key, const std::string& origin);

}  // namespace causeway::config
