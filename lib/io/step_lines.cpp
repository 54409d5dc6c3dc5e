#include "io/step_lines.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include "io/atomic_file.hpp"
#include "io/mapped_file.hpp"

namespace causeway {
namespace {

std::optional<std::int64_t> step_of(std::string_view line) {
    constexpr std::string_view head = "{\"step\":";
    std::int64_t step = 0;
    if (!line.starts_with(head)) return std::nullopt;
    const auto [end, error] = std::from_chars(line.data() + head.size(), line.data() + line.size(), step);
    return error == std::errc() ? std::optional(step) : std::nullopt;
}

struct Prefix {
    std::size_t bytes = 0;
    StepLines lines;
};

Prefix lines_up_to(std::string_view text, std::int64_t step) {
    Prefix kept{0, {0, step}};
    std::int64_t last = 0, gaps = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        if (end == std::string_view::npos) break;  // cut short
        const std::optional<std::int64_t> found = step_of(text.substr(at, end - at));
        at = end + 1;
        if (!found) continue;
        gaps += std::max<std::int64_t>(*found - last - 1, 0);
        last = *found;
        if (last <= step) kept = {at, {last, gaps + step - last}};
    }
    return kept;
}

}  // namespace

StepLines cut_after(const std::string& path, std::int64_t step) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) return {0, step};
    const MappedFile file(path);
    const Prefix kept = lines_up_to(file.text(), step);
    if (kept.bytes == file.size()) return kept.lines;
    AtomicFile cut(path);
    cut.write(file.bytes().first(kept.bytes));
    cut.commit();
    return kept.lines;
}

}  // namespace causeway
