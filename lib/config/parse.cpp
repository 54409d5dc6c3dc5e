#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "config/check.hpp"
#include "config/config.hpp"
#include "config/field_table.hpp"
#include "config/overrides.hpp"
#include "config/read_json.hpp"
#include "config/read_model.hpp"
#include "config/resolve.hpp"

namespace causeway {
namespace config {
namespace {

constexpr std::size_t largest_file = 1 << 20;  // a config has a few KB; more is the wrong file

std::string read_file(const std::string& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    if (file == nullptr) throw IoError(fmt::format("{}: cannot open: {}", path, std::strerror(errno)));
    std::string content(largest_file + 1, '\0');
    content.resize(std::fread(content.data(), 1, content.size(), file.get()));
    if (std::ferror(file.get()) != 0) throw IoError(fmt::format("{}: cannot read: {}", path, std::strerror(errno)));
    if (content.size() > largest_file) {
        throw IoError(fmt::format("{}: is larger than {} bytes, which no config is", path, largest_file));
    }
    return content;
}

void read_section(Config& config, const Section& section, const Json& values, const std::string& origin) {
    if (!values.is_object()) fail_value({section.name, origin}, values, "an object");
    for (const auto& [key, value] : values.items()) {
        const Field* field = find_field(section, key);
        if (field == nullptr) fail_unknown_field(section, key, origin);
        field->read(config, value, {section.name + "." + key, origin});
    }
}

/// What was asked for beside the file.
struct Request {
    std::string origin;        ///< names the file
    std::string model_type;    ///< instead of the file's, where not empty
    const ModelConfig* start;  ///< see load_config_from; null for the defaults
};

/// A config.json of HuggingFace's is a model alone, its keys at the top level.
bool is_hf_config(const Json& document) {
    const auto& sections = field_table();
    return document.contains("model_type") &&
           std::none_of(sections.begin(), sections.end(),
                        [&](const Section& section) { return document.contains(section.name); });
}

Config read_document(const Json& document, const Request& request) {
    const std::string& origin = request.origin;
    if (!document.is_object()) {
        throw ConfigError(fmt::format("{}: found {}, expected an object with the sections model, data, train, runtime",
                                      origin, describe(document)));
    }
    Config config;
    if (is_hf_config(document)) {
        read_model(config, document, {"", origin}, request.model_type, request.start);
        return config;
    }
    const auto model = document.find("model");
    read_model(config, model == document.end() ? Json::object() : *model, {"model", origin}, request.model_type,
               request.start);
    for (const auto& [key, value] : document.items()) {
        if (key == "model") continue;
        if (key == "$schema") {  // for editors
            if (!value.is_string()) fail_value({key, origin}, value, "a string");
            continue;
        }
        const Section* section = find_section(key);
        if (section == nullptr) fail_unknown_section(key, origin);
        read_section(config, *section, value, origin);
    }
    return config;
}

void resolve_and_check(Config& config, const std::string& origin) {
    resolve_derived(config);
    check_rules(config, origin);
}

}  // namespace
}  // namespace config

Config parse_config(const std::string& json, const std::string& origin, const std::vector<std::string>& overrides,
                    const ModelConfig* start) {
    const config::Request request{origin, config::overridden_model_type(overrides), start};
    Config config = config::read_document(config::read_json(json, origin), request);
    for (const std::string& assignment : overrides) config::apply_override(config, assignment);
    config::resolve_and_check(config, overrides.empty() ? origin : origin + " with overrides");
    return config;
}

Config load_config(const std::string& path, const std::vector<std::string>& overrides, const ModelConfig* start) {
    return parse_config(config::read_file(path), path, overrides, start);
}

Config resolve_config(const Config& given) {
    const std::string origin = "a config made in C++";
    Config config = given;
    for (const config::Section& section : config::field_table()) {
        for (const config::Field& field : section.fields) {
            field.read(config, field.write(given), {section.name + "." + field.key, origin});
        }
    }
    config::resolve_and_check(config, origin);
    return config;
}

std::string to_json(const Config& given) {
    config::Json document;
    for (const config::Section& section : config::field_table()) {
        config::Json& values = document[section.name] = config::Json::object();
        for (const config::Field& field : section.fields) values[config::pointer_to(field)] = field.write(given);
    }
    return document.dump(2) + "\n";
}

}  // namespace causeway
