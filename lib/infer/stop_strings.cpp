#include "infer/stop_strings.hpp"

#include <algorithm>
#include <utility>

#include "causeway/error.hpp"

namespace causeway::infer {
namespace {

/// The length of the longest end of `text` that is a beginning of `string`, not all of it.
std::size_t overlap(std::string_view text, std::string_view string) {
    std::size_t length = std::min(text.size(), string.size() - 1);
    while (length > 0 && !text.ends_with(string.substr(0, length))) --length;
    return length;
}

}  // namespace

StopStrings::StopStrings(std::vector<std::string> strings) : strings_(std::move(strings)) {
    for (const std::string& string : strings_) {
        if (string.empty()) throw ConfigError("stop: found an empty string, expected at least one byte");
    }
}

std::string StopStrings::add(std::string_view text) {
    if (stopped_) return "";
    held_ += text;
    std::size_t found = std::string::npos, kept = 0;
    for (const std::string& string : strings_) {
        found = std::min(found, held_.find(string));
        kept = std::max(kept, overlap(held_, string));
    }
    if (found != std::string::npos) {
        stopped_ = true;
        held_.resize(found);
        return std::exchange(held_, "");
    }
    std::string shown = held_.substr(0, held_.size() - kept);
    held_.erase(0, shown.size());
    return shown;
}

std::string StopStrings::finish() { return std::exchange(held_, ""); }

}  // namespace causeway::infer
