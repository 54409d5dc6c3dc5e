#pragma once

#include <cstdint>
#include <cstring>
#include <string>

/// The bytes of a safetensors file with this header text, right or wrong, and this data.
inline std::string safetensors(const std::string& header, const std::string& data) {
    const std::uint64_t length = header.size();
    std::string file(sizeof length, '\0');
    std::memcpy(file.data(), &length, sizeof length);
    return file + header + data;
}

/// The data part of a safetensors file's bytes.
inline std::string data_of(const std::string& file) {
    std::uint64_t length = 0;
    std::memcpy(&length, file.data(), sizeof length);
    return file.substr(sizeof length + length);
}
