#include "base/format.hpp"
#include "causeway/error.hpp"
#include "data/tasks/tasks.hpp"
#include "data/tokens.hpp"

namespace causeway {
namespace {

/// A row is T independent random tokens; the target at t is the token `lookback` positions before t. The first
/// `lookback` positions have no answer. Nothing but attention to one fixed distance gives better than chance.
class LookbackCopy final : public Task {
  public:
    explicit LookbackCopy(const Config& config)
        : vocab_size_(static_cast<std::uint64_t>(config.model.vocab_size)),
          lookback_(static_cast<std::size_t>(config.data.lookback)) {
        if (config.data.lookback < 1 || config.data.lookback >= config.train.sequence_length) {
            throw ConfigError(fmt::format("data.lookback: found {}, expected 1 to {} (train.sequence_length - 1)",
                                          config.data.lookback, config.train.sequence_length - 1));
        }
    }

    void make_row(RandomStream& random, std::span<std::int32_t> inputs,
                  std::span<std::int32_t> targets) const override {
        for (std::size_t t = 0; t < inputs.size(); ++t) {
            inputs[t] = static_cast<std::int32_t>(random.next_below(vocab_size_));
            targets[t] = t >= lookback_ ? inputs[t - lookback_] : ignore_index;
        }
    }

  private:
    std::uint64_t vocab_size_;
    std::size_t lookback_;
};

}  // namespace

const TaskEntry lookback_copy_task{
    DataSource::lookback_copy, "lookback_copy", "random tokens: say the one a fixed number of positions back",
    [](const Config& config) -> std::unique_ptr<Task> { return std::make_unique<LookbackCopy>(config); }};

}  // namespace causeway
