#include <algorithm>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "data/keyed_permutation.hpp"
#include "data/tasks/tasks.hpp"
#include "data/tokens.hpp"

namespace causeway {
namespace {

/// A row is a list of p different random tokens, said over and over, p being random between T/4 and T/2. From its
/// second round on (t >= p) the current token A has stood in the row before, and always before the same B: that B is
/// the target. The first round has no answer. As p changes from row to row no fixed distance helps; what does is an
/// induction head, which finds the earlier A and copies what followed (Olsson et al.: "In-context learning and
/// induction heads", 2022, whose repeated random sequences these are, with a varying period).
class Induction final : public Task {
  public:
    explicit Induction(const Config& config)
        : vocab_size_(config.model.vocab_size),
          longest_(config.train.sequence_length / 2),
          shortest_(std::max<std::int64_t>(2, config.train.sequence_length / 4)) {
        if (config.train.sequence_length < 4) {
            throw ConfigError(fmt::format("train.sequence_length: found {}, the induction task needs at least 4",
                                          config.train.sequence_length));
        }
        if (vocab_size_ < longest_) {
            throw ConfigError(
                fmt::format("model.vocab_size: found {}, the induction task needs at least {}, half of "
                            "train.sequence_length, different tokens",
                            vocab_size_, longest_));
        }
    }

    void make_row(RandomStream& random, std::span<std::int32_t> inputs,
                  std::span<std::int32_t> targets) const override {
        const auto choices = static_cast<std::uint64_t>(longest_ - shortest_ + 1);
        const auto period = static_cast<std::size_t>(shortest_) + random.next_below(choices);
        const std::uint64_t seed = random.next_u64();
        const KeyedPermutation different(vocab_size_, seed, random.next_u64());
        for (std::size_t t = 0; t < inputs.size(); ++t) {
            inputs[t] =
                t < period ? static_cast<std::int32_t>(different(static_cast<std::int64_t>(t))) : inputs[t - period];
            targets[t] = t < period ? ignore_index : inputs[t - period + 1];
        }
    }

  private:
    std::int64_t vocab_size_;
    std::int64_t longest_;
    std::int64_t shortest_;
};

}  // namespace

const TaskEntry induction_task{
    DataSource::induction, "induction", "a random list said over and over: say what followed this token before",
    [](const Config& config) -> std::unique_ptr<Task> { return std::make_unique<Induction>(config); }};

}  // namespace causeway
