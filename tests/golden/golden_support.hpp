#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "base/isa.hpp"
#include "io/safetensors.hpp"

/// All elements of a tensor of element type T.
template <class T>
std::vector<T> read_values(const causeway::SafetensorsFile& file, const std::string& name) {
    std::vector<T> values(static_cast<std::size_t>(file.view(name).desc.stored_elements));
    file.read(name, std::span<T>(values));
    return values;
}

/// Every instruction set this CPU has; only the forced one when CAUSEWAY_ISA is set.
inline std::vector<std::string> isas() {
    if (const char* forced = std::getenv("CAUSEWAY_ISA"); forced != nullptr && *forced != '\0') return {forced};
    std::vector<std::string> names;
    for (causeway::Isa isa : causeway::available_isas()) names.emplace_back(to_string(isa));
    return names;
}
