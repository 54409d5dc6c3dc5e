#include "inspect/units.hpp"

#include <array>
#include <cmath>

#include "base/format.hpp"

namespace causeway {
namespace {

/// Three significant digits without an exponent for 0 <= x < 10000.
std::string three_digits(double x) {
    if (x >= 100) return fmt::format("{:.0f}", x);
    if (x >= 10) return fmt::format("{:.1f}", x);
    return fmt::format("{:.2f}", x);
}

}  // namespace

std::string count_text(std::int64_t count) {
    std::string text = fmt::format("{}", count);
    const std::size_t first_digit = count < 0 ? 1 : 0;
    for (std::size_t at = text.size(); at > first_digit + 3;) text.insert(at -= 3, 1, ',');
    return text;
}

std::string bytes_text(double bytes) {
    constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < units.size()) {
        bytes /= 1024;
        ++unit;
    }
    return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{} {}", three_digits(bytes), units[unit]);
}

std::string quantity_text(double quantity) {
    constexpr std::array units{"", " k", " M", " G", " T", " P"};
    std::size_t unit = 0;
    while (std::abs(quantity) >= 1000 && unit + 1 < units.size()) {
        quantity /= 1000;
        ++unit;
    }
    return unit == 0 ? fmt::format("{:.0f}", quantity) : three_digits(quantity) + units[unit];
}

std::string seconds_text(double seconds) {
    if (seconds == 0) return "0 s";
    if (seconds < 1e-3) return three_digits(seconds * 1e6) + " us";
    if (seconds < 1) return three_digits(seconds * 1e3) + " ms";
    return three_digits(seconds) + " s";
}

std::string compact_text(const Shape& shape) {
    std::string text;
    for (std::int64_t extent : shape.extents()) text += fmt::format("{}{}", text.empty() ? "" : ",", extent);
    return "(" + text + ")";
}

}  // namespace causeway
