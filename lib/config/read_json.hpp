#pragma once

#include <string>

#include "config/json.hpp"

namespace causeway::config {

/// JSON text to a value, strictly: duplicate keys, comments, trailing commas, NaN, numbers beyond a double and bytes
/// that are not UTF-8 are ConfigErrors "origin:line:column: ...". A byte order mark and CRLF are accepted; the locale
/// does not matter. Columns count characters from 1.
Json read_json(const std::string& text, const std::string& origin);

}  // namespace causeway::config
