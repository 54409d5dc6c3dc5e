#include "config/overrides.hpp"

#include "base/format.hpp"
#include "config/families/family.hpp"
#include "config/field_table.hpp"

namespace causeway::config {
namespace {

/// What the text after '=' means for a field: JSON where it is JSON, a string otherwise. A field that holds a string
/// takes it as it stands, so that data.path=123 is a file name.
Json value_of(const std::string& text, const Field& field, const Where& where) {
    if (text.empty() && !field.is_text) fail(where, fmt::format("found no value, expected {}", field.allowed));
    Json value = Json::parse(text, nullptr, false);
    if (value.is_discarded() || (field.is_text && !value.is_string())) return text;
    return value;
}

/// The field of a section, in the model's also by the name that its family has for it.
const Field* find_named(const Config& config, const Section& section, const std::string& key) {
    const Field* field = find_field(section, key);
    const Family* family = section.name == "model" ? find_family(config.model.model_type) : nullptr;
    return field != nullptr || family == nullptr ? field : find_field(section, field_of_key(*family, key));
}

}  // namespace

std::string overridden_model_type(const std::vector<std::string>& overrides) {
    const std::string key = "model.model_type=";
    std::string value;
    for (const std::string& assignment : overrides) {
        if (assignment.starts_with(key)) value = assignment.substr(key.size());
    }
    return value;
}

void apply_override(Config& config, const std::string& assignment) {
    const std::string origin = "override " + assignment;
    const std::size_t equals = assignment.find('=');
    const std::string path = assignment.substr(0, equals);
    if (equals == std::string::npos || path.empty()) {
        fail({path.empty() ? "override" : path, origin}, "expected section.field=value");
    }
    const std::size_t dot = path.find('.');
    const Section* section = find_section(path.substr(0, dot));
    if (section == nullptr) fail_unknown_section(dot == std::string::npos ? path : path.substr(0, dot), origin);
    if (dot == std::string::npos) fail({path, origin}, "is a section; expected section.field=value");
    const std::string key = path.substr(dot + 1);
    const Field* field = find_named(config, *section, key);
    if (field == nullptr) fail_unknown_field(*section, key, origin);
    const Where where{path, origin};
    field->read(config, value_of(assignment.substr(equals + 1), *field, where), where);
}

}  // namespace causeway::config
