#include <algorithm>
#include <map>

#include "support/catch.hpp"
#include "train/train_support.hpp"
#include "train/windows.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

/// A source whose rows say their number: inputs and targets of row r are r % 29. It counts how often each was asked
/// for.
class CountedRows final : public BatchSource {
  public:
    CountedRows(const Config& config, std::int64_t epoch_rows, std::map<std::int64_t, int>& seen)
        : BatchSource(config.train.batch_size, config.train.sequence_length), epoch_rows_(epoch_rows), seen_(seen) {}
    std::int64_t rows_per_epoch() const override { return epoch_rows_; }

  private:
    void fill_row(std::int64_t row, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const override {
        ++seen_[row];
        std::fill(inputs.begin(), inputs.end(), static_cast<std::int32_t>(row % 29));
        std::fill(targets.begin(), targets.end(), static_cast<std::int32_t>(row % 29));
    }

    std::int64_t epoch_rows_;
    std::map<std::int64_t, int>& seen_;
};

}  // namespace

TEST_CASE("B09: windows of data with epochs see each row once an epoch, and end with it") {
    for (const std::int64_t rows : {1, 2, 3, 7, 8, 12, 25}) {
        for (const std::int64_t batch : {1, 2, 3, 8}) {
            for (const std::int64_t accumulation : {1, 2, 4, 8}) {
                CAPTURE(rows, batch, accumulation);
                const Windows windows(rows, batch, accumulation);
                std::int64_t next = 0;
                for (std::int64_t epoch = 0; epoch < 3; ++epoch) {
                    for (std::int64_t w = 0; w < windows.per_epoch(); ++w) {
                        const std::int64_t window = epoch * windows.per_epoch() + w;
                        CHECK(windows.until(next) == window);
                        for (std::int64_t i = 0; i < windows.micro_batches(window); ++i) {
                            const RowRange range = windows.micro_batch(window, i);
                            REQUIRE(range.first == next);
                            REQUIRE((range.count >= 1 && range.count <= batch));
                            next += range.count;
                            CHECK(windows.until(next) == window + 1);
                        }
                        CHECK(windows.micro_batches(window) <= accumulation);
                    }
                    CHECK(next == (epoch + 1) * rows);
                }
            }
        }
    }
}

TEST_CASE("windows of endless data follow each other") {
    const Windows windows(0, 3, 4);
    CHECK(windows.per_epoch() == 0);
    CHECK(windows.micro_batches(5) == 4);
    CHECK(windows.micro_batch(5, 2).first == (5 * 4 + 2) * 3);
    CHECK(windows.micro_batch(5, 2).count == 3);
    CHECK(windows.until(0) == 0);
    CHECK(windows.until(1) == 1);
    CHECK(windows.until(12) == 1);
    CHECK(windows.until(13) == 2);
}

TEST_CASE("B09: accumulation of 8 is flushed at an epoch's end, and steps, tokens and epochs count that") {
    // 21 rows in batches of 2 are 11 micro-batches: windows of 8 and of 3, the last of one row.
    const Config config = small_gpt2({"train.batch_size=2", "train.gradient_accumulation_steps=8", "train.max_steps=0",
                                      "train.max_epochs=2", "train.eval_every=0", "train.sequence_length=5"});
    std::map<std::int64_t, int> seen;
    TrainerOptions options;
    options.data.train = std::make_unique<CountedRows>(config, 21, seen);
    Trainer trainer(config, std::move(options));
    CHECK(trainer.steps_per_epoch() == 2);
    CHECK(trainer.step_limit().steps == 4);
    std::vector<std::int64_t> tokens, valid, epochs;
    RunHooks hooks;
    hooks.on_step = [&](const Progress& progress) {
        tokens.push_back(progress.step.tokens);
        valid.push_back(progress.step.valid_tokens);
        if (progress.epoch) epochs.push_back(progress.step.step);
    };
    const RunResult result = trainer.run(hooks);
    CHECK(result.ended_by == EndedBy::max_epochs);
    CHECK(result.last_step.step == 4);
    CHECK(tokens == std::vector<std::int64_t>{80, 25, 80, 25});
    CHECK(valid == tokens);
    CHECK(epochs == std::vector<std::int64_t>{2, 4});
    // The one row of a short batch is asked for again to fill it up.
    for (std::int64_t row = 0; row < 42; ++row) CHECK(seen[row] == (row % 21 == 20 ? 2 : 1));
    CHECK(seen.size() == 42);
}

TEST_CASE("B08: a short batch at an epoch's end counts for the rows it has") {
    const std::vector<std::string> overrides{"train.sequence_length=5", "train.max_steps=2", "train.warmup_steps=0",
                                             "train.learning_rate=1e-30"};
    Config config = small_gpt2(overrides);
    config.train.batch_size = 4;
    std::map<std::int64_t, int> seen;
    TrainerOptions options;
    options.data.train = std::make_unique<CountedRows>(config, 5, seen);  // batches of 4 and 1
    Trainer trainer(config, std::move(options));
    trainer.step();
    const StepReport shorter = trainer.step();
    config.train.batch_size = 1;
    TrainerOptions single;
    single.data.train = std::make_unique<CountedRows>(config, 5, seen);
    Trainer expected(config, std::move(single));
    StepReport row;
    for (int i = 0; i < 5; ++i) row = expected.step();
    CHECK(shorter.valid_tokens == 5);
    CHECK(shorter.loss == Approx(row.loss).epsilon(1e-6));
    CHECK(shorter.grad_norm == Approx(row.grad_norm).epsilon(1e-5));
}
