#include "config/nearest_name.hpp"

#include <algorithm>
#include <utility>

namespace causeway::config {
namespace {

constexpr std::size_t longest_compared = 64;  // no field name is near anything longer

/// Lower case without separators: learningRate, learning-rate and learning_rate are the same slip of the pen.
std::string folded(std::string_view name) {
    std::string result;
    for (char c : name) {
        if (c == '-' || c == '_' || c == ' ') continue;
        result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return result;
}

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::swap(before_last, last);
        std::swap(last, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, substituted});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
    }
    return row[b.size()];
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates) {
    if (name.size() > longest_compared) return "";
    const std::string wanted = folded(name);
    std::string nearest;
    std::size_t best = std::max<std::size_t>(1, wanted.size() / 3) + 1;
    for (const std::string& candidate : candidates) {
        const std::string other = folded(candidate);
        const std::size_t distance = edit_distance(wanted, other);
        // A distance as long as the candidate itself means that nothing of it was kept.
        if (distance < best && distance < other.size()) {
            best = distance;
            nearest = candidate;
        }
    }
    return nearest;
}

}  // namespace causeway::config
