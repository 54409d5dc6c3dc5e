#pragma once

#include <string>
#include <string_view>

#include "config/json.hpp"

namespace causeway::config {

/// Where a value stands: its key path ("train.learning_rate") and the file or override it came from.
struct Where {
    std::string path;
    std::string origin;
};

/// The value under `key` of the object at `where`, which may be the whole document.
Where inside(const Where& where, const std::string& key);

/// Throws ConfigError "path: problem (in origin)".
[[noreturn]] void fail(const Where& where, std::string_view problem);

/// Throws ConfigError "path: found <value>, expected <allowed>hint (in origin)".
[[noreturn]] void fail_value(const Where& where, const Json& value, std::string_view allowed,
                             std::string_view hint = "");

/// `message` with control characters written as \xNN, so that keys and overrides cannot break a message into lines or
/// reach the terminal.
std::string one_line(std::string_view message);

/// A JSON value as a message shows it: 1.5, "text", true, null, an array, an object. Long strings are cut.
std::string describe(const Json& value);

}  // namespace causeway::config
