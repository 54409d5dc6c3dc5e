#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/philox.hpp"
#include "config/config.hpp"
#include "data/batch_source.hpp"

namespace causeway {

/// A problem whose rows are generated: fresh ones at every step, no file.
class Task {
  public:
    virtual ~Task() = default;
    /// Writes one row drawn from `random`: inputs (T) and targets (T). A position that the row does not determine has
    /// target ignore_index; all others are scored.
    virtual void make_row(RandomStream& random, std::span<std::int32_t> inputs,
                          std::span<std::int32_t> targets) const = 0;
};

/// How a task is known to the rest: its name in configs, what it asks, and how it is made. `make` throws ConfigError
/// naming the fields when the task does not fit the config.
struct TaskEntry {
    DataSource source;
    std::string_view name;
    std::string_view summary;
    std::unique_ptr<Task> (*make)(const Config& config);
};

/// All built-in tasks.
std::span<const TaskEntry> built_in_tasks();

/// The task of a data source, nullptr when the source is not a task.
const TaskEntry* find_task(DataSource source);

/// Endless training rows of config.data.source, a built-in task, from config.train.seed.
std::unique_ptr<BatchSource> task_rows(const Config& config);

/// A fixed set of `rows` rows that training never sees; the last batch is filled up with rows whose targets are all
/// ignored.
std::unique_ptr<BatchSource> task_validation_rows(const Config& config, std::int64_t rows);

}  // namespace causeway
