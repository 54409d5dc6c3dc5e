#include "config/field_table.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/format.hpp"
#include "config/fields/fields.hpp"
#include "config/nearest_name.hpp"

namespace causeway::config {
namespace {

std::vector<std::string> keys_of(const Section& section) {
    std::vector<std::string> keys;
    for (const Field& field : section.fields) keys.push_back(field.key);
    return keys;
}

/// The field that other projects call `key`, in `preferred` or else anywhere: "section.field", or empty.
std::string path_by_other_name(const Section& preferred, const std::string& key) {
    std::string elsewhere;
    for (const Section& section : field_table()) {
        for (const Field& field : section.fields) {
            const auto& names = field.other_names;
            if (std::find(names.begin(), names.end(), key) == names.end()) continue;
            if (section.name == preferred.name) return section.name + "." + field.key;
            if (elsewhere.empty()) elsewhere = section.name + "." + field.key;
        }
    }
    return elsewhere;
}

/// The path most likely meant by an unknown key: its own section first, then the others.
std::string nearest_path(const Section& preferred, const std::string& key) {
    const std::string other = path_by_other_name(preferred, key);
    if (!other.empty()) return other;
    const std::string here = nearest_name(key, keys_of(preferred));
    if (!here.empty()) return preferred.name + "." + here;
    for (const Section& section : field_table()) {
        const std::string there = nearest_name(key, keys_of(section));
        if (!there.empty()) return section.name + "." + there;
    }
    return "";
}

}  // namespace

const std::vector<Section>& field_table() {
    static const std::vector<Section> table{model_section(), data_section(), train_section(), runtime_section()};
    return table;
}

const Section* find_section(const std::string& name) {
    const auto& table = field_table();
    const auto found =
        std::find_if(table.begin(), table.end(), [&](const Section& section) { return section.name == name; });
    return found == table.end() ? nullptr : &*found;
}

const Field* find_field(const Section& section, const std::string& key) {
    const auto& fields = section.fields;
    const auto found = std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.key == key; });
    return found == fields.end() ? nullptr : &*found;
}

bool is_object_of(const Section& section, const std::string& name) {
    return std::any_of(section.fields.begin(), section.fields.end(),
                       [&](const Field& field) { return field.key.rfind(name + ".", 0) == 0; });
}

Json::json_pointer pointer_to(const Field& field) {
    std::string path = "/" + field.key;
    std::replace(path.begin(), path.end(), '.', '/');
    return Json::json_pointer(path);
}

const Section* section_with_field(const std::string& key) {
    for (const Section& section : field_table()) {
        if (find_field(section, key) != nullptr) return &section;
    }
    return nullptr;
}

void fail_unknown_field(const Section& section, const std::string& key, const std::string& origin) {
    const Where where{section.name + "." + key, origin};
    const std::string fields = fmt::format("fields of \"{}\": {}", section.name, fmt::join(keys_of(section), ", "));
    if (const Section* owner = section_with_field(key)) {
        fail(where, fmt::format("\"{}\" found in section \"{}\", but it belongs to \"{}\"; {}", key, section.name,
                                owner->name, fields));
    }
    const std::string nearest = nearest_path(section, key);
    fail(where,
         fmt::format("unknown field{}; {}", nearest.empty() ? "" : ", did you mean \"" + nearest + "\"?", fields));
}

void fail_unknown_section(const std::string& key, const std::string& origin) {
    std::vector<std::string> names;
    for (const Section& section : field_table()) names.push_back(section.name);
    const std::string sections = fmt::format("sections: {}", fmt::join(names, ", "));
    if (const Section* owner = section_with_field(key)) {
        fail({key, origin}, fmt::format("found at the top level, but it belongs to section \"{}\" as \"{}.{}\"; {}",
                                        owner->name, owner->name, key, sections));
    }
    const std::string nearest = nearest_name(key, names);
    const std::string path = nearest.empty() ? nearest_path(field_table().front(), key) : nearest;
    fail({key, origin},
         fmt::format("unknown section{}; {}", path.empty() ? "" : ", did you mean \"" + path + "\"?", sections));
}

}  // namespace causeway::config
