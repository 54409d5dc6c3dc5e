#include "train/metrics_file.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "base/format.hpp"
#include "io/atomic_file.hpp"
#include "io/mapped_file.hpp"

namespace causeway::train {
namespace {

/// Of a line as metrics_line writes it.
std::optional<std::int64_t> step_of(std::string_view line) {
    constexpr std::string_view head = "{\"step\":";
    std::int64_t step = 0;
    if (!line.starts_with(head)) return std::nullopt;
    const auto [end, error] = std::from_chars(line.data() + head.size(), line.data() + line.size(), step);
    return error == std::errc() ? std::optional(step) : std::nullopt;
}

/// The lines up to the last one of an earlier step. That is not the first one of a later step: after a rollback steps
/// come again.
struct Prefix {
    std::size_t bytes = 0;
    std::int64_t missing = 0;  ///< steps without a line
};

Prefix lines_before(std::string_view text, std::int64_t step) {
    Prefix kept{0, step - 1};
    std::int64_t last = 0, gaps = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        if (end == std::string_view::npos) break;  // cut short
        const std::optional<std::int64_t> found = step_of(text.substr(at, end - at));
        at = end + 1;
        if (!found) continue;
        gaps += std::max<std::int64_t>(*found - last - 1, 0);
        last = *found;
        if (last < step) kept = {at, gaps + step - 1 - last};
    }
    return kept;
}

}  // namespace

std::string cut_metrics(const std::string& path, std::int64_t step, const std::string& line) {
    std::error_code ignored;
    const MappedFile file = std::filesystem::exists(path, ignored) ? MappedFile(path) : MappedFile();
    const Prefix kept = step > 0 ? lines_before(file.text(), step) : Prefix{};
    AtomicFile cut(path);
    cut.write(file.bytes().first(kept.bytes));
    const std::string last = line.empty() ? "" : line + "\n";
    cut.write(std::as_bytes(std::span(last)));
    cut.commit();
    if (kept.missing <= 0) return "";
    return fmt::format("{}: has no lines for {} of the {} steps before {}", path, kept.missing, step - 1, step);
}

}  // namespace causeway::train
