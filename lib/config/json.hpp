#pragma once

#include <nlohmann/json.hpp>

namespace causeway::config {

/// Keeps the order of keys, so that what is written reads like the field table.
using Json = nlohmann::ordered_json;

}  // namespace causeway::config
