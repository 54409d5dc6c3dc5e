#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/safetensors.hpp"

namespace causeway {

/// What the head of a safetensors file declares, after every check that needs no tensor data.
struct SafetensorsHeader {
    std::vector<SafetensorsEntry> tensors;  ///< in the order of their data
    std::map<std::string, std::string> metadata;
};

/// The format's own limit on the JSON's length.
inline constexpr std::size_t max_safetensors_header = 100'000'000;

/// Reads and proves the header of the file whose content is `file`; `path` names it in messages. Throws IoError.
SafetensorsHeader parse_safetensors_header(const std::string& path, std::span<const std::byte> file);

}  // namespace causeway
