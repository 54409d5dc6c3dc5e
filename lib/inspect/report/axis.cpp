#include "inspect/report/axis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/format.hpp"

namespace causeway::report {
namespace {

/// 1, 2 or 5 times a power of ten: the smallest that is not below `least`.
double round_distance(double least) {
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor * power >= least * (1 - 1e-9)) return factor * power;
    }
    return 10 * power;
}

/// Of the first digit; 0 has none, and any will do.
int power_of_ten(double value) {
    return value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9));
}

/// A range with an extent that arithmetic can tell apart.
std::pair<double, double> widened(double low, double high) {
    const double least = std::max(std::abs(low), std::abs(high)) * 1e-6 + 1e-12;
    if (high - low >= least) return {low, high};
    const double half = std::max(least, std::abs(low) * 0.05);
    return {low - half, high + half};
}

std::string without_trailing_zeros(std::string text) {
    if (text.find('.') == std::string::npos) return text;
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

}  // namespace

std::string figure_text(double value, int digits) {
    const double size = std::abs(value);
    if (value == 0) return "0";
    if (size < 1e-3) {
        const std::string text = fmt::format("{:.{}e}", value, std::max(0, digits - 1));
        const std::size_t e = text.find('e');
        return fmt::format("{}e{}", without_trailing_zeros(text.substr(0, e)), std::stoi(text.substr(e + 1)));
    }
    constexpr std::array units{"", " k", " M", " G", " T", " P", " E"};
    std::size_t unit = 0;
    double scaled = value;
    while (std::abs(scaled) >= (unit == 0 ? 10000.0 : 1000.0) && unit + 1 < units.size()) {
        scaled /= 1000;
        ++unit;
    }
    if (std::abs(scaled) >= 1e6) return fmt::format("{:.2e}", value);
    const int before_point = power_of_ten(scaled) + 1;
    const std::string text = fmt::format("{:.{}f}", scaled, std::max(0, digits - before_point));
    return without_trailing_zeros(text) + units[unit];
}

Axis Axis::linear(double low, double high) {
    const auto [from, to] = widened(low, high);
    const double distance = round_distance((to - from) / 8);
    return Axis(std::floor(from / distance + 1e-9) * distance, std::ceil(to / distance - 1e-9) * distance, false);
}

Axis Axis::logarithmic(double low, double high) {
    const double margin = std::max(1.02, std::pow(high / low, 0.03));
    return Axis(low / margin, high * margin, true);
}

Axis Axis::exact(double low, double high) {
    const auto [from, to] = widened(low, high);
    return Axis(from, to, false);
}

double Axis::at(double value) const {
    const double share =
        logarithmic_ ? (value <= 0 ? 0 : (std::log(value) - std::log(low_)) / (std::log(high_) - std::log(low_)))
                     : (value - low_) / (high_ - low_);
    return std::clamp(share, 0.0, 1.0);
}

std::vector<Tick> Axis::ticks(int wanted, double unit, double least) const {
    return logarithmic_ ? logarithmic_ticks() : linear_ticks(wanted, unit, least);
}

std::vector<Tick> Axis::linear_ticks(int wanted, double unit, double least) const {
    const double low = low_ / unit, high = high_ / unit;
    const double distance = round_distance(std::max((high - low) / wanted, least));
    std::vector<Tick> ticks;
    for (auto i = static_cast<std::int64_t>(std::ceil(low / distance - 1e-9)); ticks.size() < 32; ++i) {
        const double value = static_cast<double>(i) * distance;
        if (value > high + distance * 1e-9) break;
        const int digits = std::max(1, power_of_ten(value) - power_of_ten(distance) + 1);  // enough to differ
        ticks.push_back({value * unit, figure_text(value, digits)});
    }
    return ticks;
}

/// Powers of ten, 1-2-5 when there are few of them, every second or third when there are many.
std::vector<Tick> Axis::logarithmic_ticks() const {
    const int first = static_cast<int>(std::floor(std::log10(low_))),
              last = static_cast<int>(std::ceil(std::log10(high_)));
    const int stride = std::max(1, (last - first) / 6);
    std::vector<Tick> ticks;
    for (int power = first; power <= last; power += stride) {
        for (const double factor : {1.0, 2.0, 5.0}) {
            if (factor > 1 && last - first > 3) break;
            const double value = factor * std::pow(10.0, power);
            if (value >= low_ * (1 - 1e-9) && value <= high_ * (1 + 1e-9))
                ticks.push_back({value, figure_text(value, 1)});
        }
    }
    if (ticks.size() >= 2) return ticks;
    return Axis(low_, high_, false).linear_ticks(4, 1, 0);
}

}  // namespace causeway::report
