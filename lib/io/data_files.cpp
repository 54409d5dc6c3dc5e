#include "io/data_files.hpp"

#include <fmt/ranges.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string_view>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/tokenizer/tokenizer_config.hpp"

namespace causeway {
namespace {

namespace fs = std::filesystem;

std::vector<std::string_view> endings_of(DataSource source) {
    if (source == DataSource::tokens) return {".bin", ".npy"};
    if (source == DataSource::jsonl || source == DataSource::chat) return {".jsonl", ".json"};
    return {""};
}

bool is_data_file(const fs::directory_entry& entry, DataSource source) {
    std::error_code ignored;
    const std::string name = entry.path().filename().string();
    const auto endings = endings_of(source);
    return !name.starts_with('.') && entry.is_regular_file(ignored) &&
           std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

std::vector<std::string> files_in(const std::string& folder, DataSource source) {
    std::vector<std::string> files;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        if (is_data_file(*entry, source)) files.push_back(entry->path().string());
    }
    if (error) throw IoError(fmt::format("{}: cannot list the folder: {}", folder, error.message()));
    return files;
}

std::vector<std::string> matches_of(const std::string& pattern) {
    glob_t found{};
    std::vector<std::string> files;
    if (glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0)
        files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
    globfree(&found);
    return files;
}

bool is_pattern(const std::string& path) { return path.find_first_of("*?[") != std::string::npos; }

/// Unsorted; empty when there is none.
std::vector<std::string> find_files(const std::string& path, DataSource source) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) return files_in(path, source);
    if (fs::exists(path, ignored)) return {path};
    return is_pattern(path) ? matches_of(path) : std::vector<std::string>{};
}

[[noreturn]] void refuse(const std::string& path, DataSource source, const std::string& field) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
        throw IoError(fmt::format("{}: the folder holds no file that ends in {} ({})", path,
                                  fmt::join(endings_of(source), " or "), field));
    }
    if (is_pattern(path)) throw IoError(fmt::format("{}: no file matches ({})", path, field));
    throw IoError(fmt::format("{}: no such file ({}, relative to the current folder){}", path, field,
                              source == DataSource::text ? ". Any text file serves; tools/get_kjv.sh makes "
                                                           "build/data/kjv.txt"
                                                         : ""));
}

}  // namespace

std::vector<std::string> files_of_path(const std::string& path, DataSource source, const std::string& field) {
    std::vector<std::string> files = find_files(path, source);
    if (files.empty()) refuse(path, source, field);
    std::ranges::sort(files);
    return files;
}

std::vector<std::string> data_files(const DataConfig& data) {
    std::vector<std::string> paths{data.path, data.validation_path}, files;
    for (const DataPart& part : data.mixture) paths.push_back(part.path);
    for (const std::string& path : paths) {
        if (path.empty()) continue;
        const std::vector<std::string> found = find_files(path, data.source);
        files.insert(files.end(), found.begin(), found.end());
    }
    if (!data.tokenizer.empty()) {
        std::error_code ignored;
        const bool folder = fs::is_directory(data.tokenizer, ignored);
        const std::string tokenizer = folder ? (fs::path(data.tokenizer) / "tokenizer.json").string() : data.tokenizer;
        files.push_back(tokenizer);
        const std::string settings = tokenizer_config_file(tokenizer);
        if (fs::exists(settings, ignored)) files.push_back(settings);
    }
    std::ranges::sort(files);
    return files;
}

}  // namespace causeway
