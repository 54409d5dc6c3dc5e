#include <cmath>

#include "support/catch.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

constexpr std::int32_t none = ignore_index;

/// Two rows of five tokens with four targets and with one.
const std::vector<std::int32_t> inputs{3, 1, 4, 1, 5, 9, 2, 6, 5, 3};
const std::vector<std::int32_t> targets{1, 4, 1, 5, none, none, none, none, 3, none};

Config five_tokens(std::int64_t batch, std::int64_t accumulation) {
    Config config = small_gpt2({"train.sequence_length=5"});
    config.train.batch_size = batch;
    config.train.gradient_accumulation_steps = accumulation;
    return config;
}

}  // namespace

TEST_CASE("B08: micro-batches weigh by their valid targets, as one batch of all rows does") {
    const Config split = five_tokens(1, 2), whole = five_tokens(2, 1);
    for (DType dtype : {DType::f32, DType::f64}) {
        Trainer micro(split, on_rows(split, inputs, targets, dtype));
        Trainer batch(whole, on_rows(whole, inputs, targets, dtype));
        const StepReport a = micro.step(), b = batch.step();
        CHECK(a.valid_tokens == 5);
        CHECK(b.valid_tokens == 5);
        CHECK(a.loss == Approx(b.loss).epsilon(1e-6));
        CHECK(a.grad_norm == Approx(b.grad_norm).epsilon(1e-6));
        const std::vector<double> ga = values_of(micro.gradients()), gb = values_of(batch.gradients());
        REQUIRE(ga.size() == gb.size());
        double difference = 0, norm = 0;
        for (std::size_t i = 0; i < ga.size(); ++i) {
            difference += (ga[i] - gb[i]) * (ga[i] - gb[i]);
            norm += gb[i] * gb[i];
        }
        CHECK(std::sqrt(difference / norm) <= (dtype == DType::f64 ? 1e-14 : 1e-6));
    }
}

TEST_CASE("B08, B70: the reported loss is the token-weighted mean of the window, not the mean of means") {
    const Config one = five_tokens(1, 1), split = five_tokens(1, 2);
    // Each row's own mean, from trainers that see it first.
    const auto mean_of_row = [&](std::size_t row) {
        const auto begin = static_cast<std::ptrdiff_t>(row * 5);
        Trainer trainer(one, on_rows(one, {inputs.begin() + begin, inputs.begin() + begin + 5},
                                     {targets.begin() + begin, targets.begin() + begin + 5}));
        return trainer.step().loss;
    };
    const double first = mean_of_row(0), second = mean_of_row(1);
    REQUIRE(std::abs(first - second) > 1e-3);
    Trainer trainer(split, on_rows(split, inputs, targets));
    CHECK(trainer.step().loss == Approx((4 * first + second) / 5).epsilon(1e-6));
}

TEST_CASE("B08: validation weighs by valid targets, and a short last batch counts for what it has") {
    Config config = five_tokens(2, 1);
    // Three rows: the last batch has one row and one that is all ignored.
    std::vector<std::int32_t> three_inputs = inputs, three_targets = targets;
    three_inputs.insert(three_inputs.end(), {7, 7, 7, 7, 7, 0, 0, 0, 0, 0});
    three_targets.insert(three_targets.end(), {8, 8, 8, none, none, none, none, none, none, none});
    TrainerOptions options = on_rows(config, inputs, targets);
    options.data.validation = std::make_unique<WrittenRows>(2, 5, three_inputs, three_targets, 3);
    Trainer trainer(config, std::move(options));
    const Evaluation all = trainer.evaluate();
    CHECK(all.valid_tokens == 8);

    config.train.batch_size = 1;
    double sum = 0;
    for (std::size_t row = 0; row < 3; ++row) {
        const auto begin = static_cast<std::ptrdiff_t>(row * 5);
        TrainerOptions single = on_rows(config, inputs, targets);
        single.data.validation = std::make_unique<WrittenRows>(
            1, 5, std::vector<std::int32_t>{three_inputs.begin() + begin, three_inputs.begin() + begin + 5},
            std::vector<std::int32_t>{three_targets.begin() + begin, three_targets.begin() + begin + 5}, 1);
        const Evaluation part = Trainer(config, std::move(single)).evaluate();
        sum += part.loss * static_cast<double>(part.valid_tokens);
    }
    CHECK(all.loss == Approx(sum / 8).epsilon(1e-6));
}

TEST_CASE("B09: steps, rates and epochs count optimizer steps, not micro-batches") {
    Trainer trainer(small_gpt2({"train.gradient_accumulation_steps=4", "train.max_steps=10", "train.warmup_steps=4",
                                "train.learning_rate=1", "train.min_learning_rate=0.1", "train.steps_per_epoch=5",
                                "train.eval_every=5"}));
    const std::vector<double> rates{.2, .4, .6, .8, 1.0, .939711, .775, .55, .325, .160289};
    std::int64_t steps = 0;
    std::vector<std::int64_t> epochs, evaluated;
    RunHooks hooks;
    hooks.on_step = [&](const Progress& progress) {
        REQUIRE(steps < 10);
        CHECK(progress.step.learning_rate == Approx(rates[static_cast<std::size_t>(steps)]).margin(1e-6));
        CHECK(progress.step.step == ++steps);
        CHECK(progress.step.tokens == 4 * 4 * 13);
        if (progress.epoch) epochs.push_back(progress.epoch->epoch);
        if (progress.validation) evaluated.push_back(progress.step.step);
    };
    const RunResult result = trainer.run(hooks);
    CHECK(steps == 10);
    CHECK(result.last_step.step == 10);
    CHECK(!result.stopped);
    CHECK(epochs == std::vector<std::int64_t>{1, 2});
    CHECK(evaluated == std::vector<std::int64_t>{5, 10});
}

TEST_CASE("windows of accumulation follow each other without gap or overlap") {
    // Two steps of two micro-batches see the same four rows as one step of four.
    const Config twice = small_gpt2({"train.gradient_accumulation_steps=2", "train.learning_rate=1e-30"});
    const Config once = small_gpt2({"train.gradient_accumulation_steps=4", "train.learning_rate=1e-30"});
    Trainer a(twice), b(once);
    const StepReport first = a.step(), second = a.step(), both = b.step();
    const double sum =
        first.loss * static_cast<double>(first.valid_tokens) + second.loss * static_cast<double>(second.valid_tokens);
    CHECK(first.valid_tokens + second.valid_tokens == both.valid_tokens);
    CHECK(sum / static_cast<double>(both.valid_tokens) == Approx(both.loss).epsilon(1e-6));
}
