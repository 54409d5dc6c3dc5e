#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace causeway {

/// The number from 0 on that is all of the text.
inline std::optional<int> whole_number(std::string_view text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
    return number;
}

}  // namespace causeway
