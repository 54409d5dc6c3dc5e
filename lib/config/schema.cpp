#include "config/config.hpp"
#include "config/field_table.hpp"

namespace causeway {
namespace config {
namespace {

Json object_schema(const std::string& description) {
    return {{"type", "object"},
            {"description", description},
            {"additionalProperties", false},
            {"properties", Json::object()}};
}

/// Where the schema of a field belongs; objects on the way there are made when first met.
Json& property_of(Json& schema, const std::string& key) {
    const std::size_t dot = key.find('.');
    if (dot == std::string::npos) return schema["properties"][key];
    Json& object = schema["properties"][key.substr(0, dot)];
    if (object.is_null()) object = object_schema("The fields of " + key.substr(0, dot) + ".");
    return object["properties"][key.substr(dot + 1)];
}

Json section_schema(const Section& section, const Config& defaults) {
    Json schema = object_schema(section.doc);
    for (const Field& field : section.fields) {
        Json property = field.schema;
        property["description"] = field.doc;
        property["default"] = field.write(defaults);
        property_of(schema, field.key) = std::move(property);
    }
    return schema;
}

}  // namespace
}  // namespace config

std::string config_schema() {
    using config::Json;
    Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "Causeway config"}};
    schema.update(config::object_schema("A causal language model, its data, its training and how it runs."));
    schema["properties"]["$schema"] = {{"type", "string"}, {"description", "Where editors find this schema."}};
    for (const config::Section& section : config::field_table()) {
        schema["properties"][section.name] = config::section_schema(section, Config{});
    }
    return schema.dump(2) + "\n";
}

}  // namespace causeway
