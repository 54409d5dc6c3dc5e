#pragma once

#include "io/tokenizer/json_field.hpp"
#include "io/tokenizer/regex.hpp"

namespace causeway {

/// Of {"Regex": "..."} or {"String": "..."}. Throws IoError.
Regex read_pattern(const JsonField& field);

}  // namespace causeway
