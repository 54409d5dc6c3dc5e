#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensor/shape.hpp"

namespace causeway {

/// An arbitrary attention mask: (T,T), or (1 or B, 1 or H, T, T). Of a larger one the top left is used.
struct AttentionMask {
    Shape shape;
    std::vector<std::uint8_t> visible;  ///< 0 hides the key from the query

    bool sees(std::int64_t b, std::int64_t h, std::int64_t query, std::int64_t key) const;
};

/// Reads a .npy of any supported dtype; elements that are not 0 are visible. Throws IoError.
AttentionMask read_attention_mask(const std::string& path);

}  // namespace causeway
