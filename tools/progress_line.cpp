#include "progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "output.hpp"

namespace causeway::cli {
namespace {

constexpr std::chrono::milliseconds pause{200};

/// Clears the line and puts `text` there. What cannot be shown is not worth an error.
void draw(const std::string& text) {
    const std::string line = "\r\x1b[K" + text;
    static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

}  // namespace

ProgressLine::ProgressLine(const std::vector<std::string>& inputs) : terminal_(isatty(STDERR_FILENO) == 1) {
    for (const std::string& path : inputs) {
        std::error_code error;
        const std::uintmax_t size =
            std::filesystem::is_regular_file(path, error) ? std::filesystem::file_size(path, error) : 0;
        if (error || size == 0) {
            total_ = 0;
            return;
        }
        total_ += size;
    }
}

void ProgressLine::show(std::uint64_t bytes, const std::string& note) {
    const Clock::time_point now = Clock::now();
    if (!terminal_ || now - last_ < pause) return;
    last_ = now;
    const double seconds = std::chrono::duration<double>(now - begin_).count(), done = static_cast<double>(bytes);
    std::string text = fmt::format("{:.1f} MB", done / 1e6);
    if (total_ > 0) text += fmt::format(" of {:.1f}", static_cast<double>(total_) / 1e6);
    text += fmt::format(", {:.1f} MB/s, {}", done / seconds / 1e6, note);
    draw(text.substr(0, static_cast<std::size_t>(terminal_width() - 1)));
    drawn_ = true;
}

void ProgressLine::finish() {
    if (drawn_) draw("");
    drawn_ = false;
}

}  // namespace causeway::cli
