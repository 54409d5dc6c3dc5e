#pragma once

#include <string>
#include <vector>

#include "causeway/error.hpp"
#include "config/config.hpp"

/// The config of `text`, named "test.json" in messages.
inline causeway::Config parsed(const std::string& text, const std::vector<std::string>& overrides = {}) {
    return causeway::parse_config(text, "test.json", overrides);
}

/// The message that parsing `text` fails with; empty when it does not fail with a ConfigError.
inline std::string mistake_in(const std::string& text, const std::vector<std::string>& overrides = {}) {
    try {
        parsed(text, overrides);
    } catch (const causeway::ConfigError& error) {
        return error.what();
    }
    return "";
}

/// A config with one field set: section_with("train", "seed", "1") is {"train": {"seed": 1}}.
inline std::string section_with(const std::string& section, const std::string& key, const std::string& value) {
    return "{\"" + section + "\": {\"" + key + "\": " + value + "}}";
}
