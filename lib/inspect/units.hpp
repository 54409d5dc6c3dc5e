#pragma once

#include <cstdint>
#include <string>

#include "tensor/shape.hpp"

namespace causeway {

/// "8,384"
std::string count_text(std::int64_t count);
/// "512 B", "1.50 KiB", "3.18 MiB"
std::string bytes_text(double bytes);
/// "850", "12.3 k", "4.56 M", "7.89 G": a number of operations, to three digits
std::string quantity_text(double quantity);
/// "0.85 us", "12.3 ms", "4.56 s", to three digits
std::string seconds_text(double seconds);
/// "(2,5,64)", "()" for a scalar
std::string compact_text(const Shape& shape);

}  // namespace causeway
