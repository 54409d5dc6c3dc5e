#include <cmath>

#include "support/catch.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

RunResult run_to_the_end(const Config& config, std::int64_t epoch_rows = 0) {
    TrainerOptions options = on_rows(config, {1, 2, 3}, {2, 3, 4});
    options.data.train = std::make_unique<WrittenRows>(config.train.batch_size, 3, std::vector<std::int32_t>{1, 2, 3},
                                                       std::vector<std::int32_t>{2, 3, 4}, epoch_rows);
    return Trainer(config, std::move(options)).run();
}

Config limited(const std::vector<std::string>& limits) {
    std::vector<std::string> all{"train.sequence_length=3", "train.batch_size=2", "train.gradient_accumulation_steps=2",
                                 "data.lookback=1"};
    all.insert(all.end(), limits.begin(), limits.end());
    return small_gpt2(all);
}

}  // namespace

TEST_CASE("a run ends at the first limit that is reached, and says which") {
    struct Case {
        std::vector<std::string> limits;
        std::int64_t steps;
        EndedBy by;
    };
    const Case cases[] = {
        {{"train.max_steps=5"}, 5, EndedBy::max_steps},
        {{"train.max_steps=0", "train.max_tokens=25"}, 3, EndedBy::max_tokens},  // 12 a step
        {{"train.max_steps=0", "train.max_tokens=24"}, 2, EndedBy::max_tokens},
        {{"train.max_steps=2", "train.max_tokens=25"}, 2, EndedBy::max_steps},
        {{"train.max_steps=4", "train.max_tokens=25"}, 3, EndedBy::max_tokens},
        {{"train.max_steps=9", "train.max_epochs=1.5", "train.steps_per_epoch=3"}, 5, EndedBy::max_epochs},
        {{"train.max_steps=9", "train.max_time_s=1e-9"}, 1, EndedBy::max_time_s},
        {{"train.max_steps=0", "train.max_time_s=1e-9", "train.lr_schedule=constant"}, 1, EndedBy::max_time_s},
    };
    for (const Case& expected : cases) {
        CAPTURE(expected.limits);
        const RunResult result = run_to_the_end(limited(expected.limits));
        CHECK(result.last_step.step == expected.steps);
        CHECK(result.ended_by == expected.by);
        CHECK(!result.stopped);
    }
}

TEST_CASE("tokens count what an epoch's last window has") {
    // 5 rows: micro-batches of 2, 2 and 1, windows of 12 and 3 tokens.
    const RunResult result = run_to_the_end(limited({"train.max_steps=0", "train.max_tokens=28"}), 5);
    CHECK(result.last_step.step == 4);
    CHECK(run_to_the_end(limited({"train.max_steps=0", "train.max_tokens=27"}), 5).last_step.step == 3);
}

TEST_CASE("schedules span the smallest limit that is known beforehand") {
    Trainer trainer(limited({"train.max_steps=100", "train.max_tokens=48", "train.warmup_steps=0",
                             "train.learning_rate=1", "train.lr_schedule=linear"}),
                    on_rows(limited({}), {1, 2, 3}, {2, 3, 4}));
    std::vector<double> rates;
    RunHooks hooks;
    hooks.on_step = [&](const Progress& progress) {
        rates.push_back(progress.step.learning_rate);
        CHECK(progress.ended_by.has_value() == (progress.step.step == 4));
    };
    trainer.run(hooks);
    CHECK(rates == std::vector<double>{1, .75, .5, .25});
}

TEST_CASE("limits that cannot be are refused") {
    CHECK_THROWS_MESSAGE(limited({"train.max_steps=0"}), ConfigError, "train.max_steps: found 0, expected a limit");
    CHECK_THROWS_MESSAGE(Trainer(limited({"train.max_epochs=2"})), ConfigError, "train.max_epochs");
    CHECK_THROWS_MESSAGE(Trainer(limited({"train.max_steps=0", "train.max_time_s=1"})), ConfigError,
                         "train.lr_schedule");
}

TEST_CASE("a run that a time limit ends is evaluated at its end") {
    const Config config = limited({"train.max_steps=1000", "train.max_time_s=1e-9"});
    Trainer trainer(config);
    const RunResult result = trainer.run();
    REQUIRE(result.validation);
    CHECK(result.validation->perplexity() == std::exp(result.validation->loss));
    CHECK(!result.validation->bits_per_byte);
    CHECK(result.last_step.step == 1);
}
