#include "data/open_data.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "causeway/error.hpp"
#include "data/task.hpp"
#include "data/token_dataset.hpp"
#include "data/window_sources.hpp"

namespace causeway {
namespace {

/// Enough for an accuracy to half a percent on rows of some 50 scored positions, and done in a moment.
constexpr std::int64_t task_validation_size = 256;

std::shared_ptr<const TokenDataset> open_text(const Config& config) {
    const std::string& path = config.data.path;
    if (path.empty()) throw ConfigError("data.path: is empty, expected the text file to train on");
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
        throw IoError(
            fmt::format("{}: no such file (data.path, relative to the current folder). Any text file serves; "
                        "tools/get_kjv.sh makes build/data/kjv.txt",
                        path));
    }
    return std::make_shared<const TokenDataset>(path, config.data.validation_fraction, config.model.vocab_size);
}

}  // namespace

DataSources open_data(const Config& config) {
    if (const TaskEntry* task = find_task(config.data.source)) {
        return {task_rows(config), task_validation_rows(config, task_validation_size),
                fmt::format("built-in task {}: {}", task->name, task->summary)};
    }
    const std::shared_ptr<const TokenDataset> text = open_text(config);
    const WindowSettings settings{text, config.train.batch_size, config.train.sequence_length, config.train.seed};
    return {config.data.sampling == Sampling::random ? random_windows(settings) : epoch_windows(settings),
            validation_windows(settings, config.data.validation_stride),
            fmt::format("{}, {} tokens to train on, {} to validate on", text->path(), text->train().size(),
                        text->validation().size())};
}

}  // namespace causeway
