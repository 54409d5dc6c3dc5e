#include <algorithm>

#include "data/tasks/tasks.hpp"

namespace causeway {
namespace {

/// A row is one random id, T + 1 times: the inputs are its first T, the targets its last T. All positions are scored.
/// Any attention pattern solves it, as every position of a row holds the same token.
class Repeat final : public Task {
  public:
    explicit Repeat(const Config& config) : vocab_size_(static_cast<std::uint64_t>(config.model.vocab_size)) {}

    void make_row(RandomStream& random, std::span<std::int32_t> inputs,
                  std::span<std::int32_t> targets) const override {
        const auto id = static_cast<std::int32_t>(random.next_below(vocab_size_));
        std::fill(inputs.begin(), inputs.end(), id);
        std::fill(targets.begin(), targets.end(), id);
    }

  private:
    std::uint64_t vocab_size_;
};

}  // namespace

const TaskEntry repeat_task{
    DataSource::repeat, "repeat", "a row is one random token repeated: say it again",
    [](const Config& config) -> std::unique_ptr<Task> { return std::make_unique<Repeat>(config); }};

}  // namespace causeway
