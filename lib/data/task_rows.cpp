#include <algorithm>
#include <utility>

#include "base/format.hpp"
#include "base/random_domain.hpp"
#include "causeway/error.hpp"
#include "data/task.hpp"
#include "data/tokens.hpp"

namespace causeway {
namespace {

/// Row r of a task is drawn from the stream r of its domain. `rows` 0: without an end.
class TaskRows final : public BatchSource {
  public:
    TaskRows(const Config& config, std::unique_ptr<Task> task, RandomDomain domain, std::int64_t rows)
        : BatchSource(config.train.batch_size, config.train.sequence_length),
          task_(std::move(task)),
          seed_(config.train.seed),
          domain_(domain),
          rows_(rows) {}

    std::int64_t rows_per_epoch() const override { return rows_; }

  private:
    void fill_row(std::int64_t row, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const override {
        RandomStream random(seed_, stream_of(domain_, static_cast<std::uint64_t>(row)));
        task_->make_row(random, inputs, targets);
        if (rows_ > 0 && row >= rows_) std::fill(targets.begin(), targets.end(), ignore_index);
    }

    std::unique_ptr<Task> task_;
    std::uint64_t seed_;
    RandomDomain domain_;
    std::int64_t rows_;
};

std::unique_ptr<BatchSource> make_rows(const Config& config, RandomDomain domain, std::int64_t rows) {
    const TaskEntry* entry = find_task(config.data.source);
    if (entry == nullptr) throw ConfigError("data.source: is not a built-in task");
    return std::make_unique<TaskRows>(config, entry->make(config), domain, rows);
}

}  // namespace

const TaskEntry* find_task(DataSource source) {
    for (const TaskEntry& entry : built_in_tasks()) {
        if (entry.source == source) return &entry;
    }
    return nullptr;
}

std::unique_ptr<BatchSource> task_rows(const Config& config) {
    return make_rows(config, RandomDomain::training_rows, 0);
}

std::unique_ptr<BatchSource> task_validation_rows(const Config& config, std::int64_t rows) {
    return make_rows(config, RandomDomain::validation_rows, rows);
}

}  // namespace causeway
