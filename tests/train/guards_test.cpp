#include "train/guards.hpp"

#include <cmath>
#include <limits>

#include "base/format.hpp"
#include "io/run_folder.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "train/run_checkpoints.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

constexpr std::int32_t none = ignore_index;

TrainConfig with_spike_factor(double factor) {
    TrainConfig train;
    train.spike_factor = factor;
    return train;
}

/// Rows of three tokens, one a step, of which number `odd` is another one than the rest.
TrainerOptions one_odd_row(const Config& config, int rows, int odd, std::vector<std::int32_t> odd_targets) {
    std::vector<std::int32_t> inputs, targets;
    for (int r = 0; r < rows; ++r) {
        const std::vector<std::int32_t> row = r == odd ? odd_targets : std::vector<std::int32_t>{2, 3, 4};
        inputs.insert(inputs.end(), {1, 2, 3});
        targets.insert(targets.end(), row.begin(), row.end());
    }
    return on_rows(config, inputs, targets);
}

Config three_tokens(const std::vector<std::string>& overrides = {}) {
    std::vector<std::string> all{"train.sequence_length=3", "train.batch_size=1", "data.lookback=1",
                                 "train.lr_schedule=constant", "train.warmup_steps=0"};
    all.insert(all.end(), overrides.begin(), overrides.end());
    return small_gpt2(all);
}

/// Makes every loss NaN, or finite again.
void poison(Trainer& trainer, float value) {
    find(trainer.parameters(), "ln_f.weight").view.as<float>()[0] = value;
    trainer.refresh();
}

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("a spike is a norm above the factor times the usual one, once that is known") {
    Guards guards(with_spike_factor(3));
    for (std::int64_t i = 0; i < Guards::updates_before_spikes; ++i) {
        CHECK(std::isinf(guards.norm_limit()));
        guards.updated(1, 2);
    }
    CHECK(guards.usual_norm() == Approx(2));
    CHECK(guards.norm_limit() == Approx(6));
    // The usual norm follows, with a memory of about fifty updates.
    for (int i = 0; i < 50; ++i) guards.updated(1, 1);
    CHECK(guards.usual_norm() == Approx(1.2).margin(0.1));
    Guards resumed(with_spike_factor(3));
    resumed.restore(guards.state());
    CHECK(resumed.norm_limit() == guards.norm_limit());
    CHECK(std::isinf(Guards(with_spike_factor(0)).norm_limit()));
}

TEST_CASE("B21: with on_non_finite skip a step with a NaN is left out and changes nothing") {
    Trainer trainer(three_tokens({"train.on_non_finite=skip"}), on_rows(three_tokens(), {1, 2, 3}, {2, 3, 4}));
    trainer.step();
    const float before = find(trainer.parameters(), "ln_f.weight").view.as<float>()[0];
    const std::vector<double> parameters = values_of(trainer.parameters()), moments = values_of(trainer.moments());
    poison(trainer, not_a_number);
    const StepReport report = trainer.step();
    CHECK(!report.updated);
    CHECK(report.fault == StepFault::non_finite);
    CHECK(std::isnan(report.loss));
    CHECK_THAT(report.fault_text, contains("step 2: the loss is nan") && contains("ln_f.weight"));
    CHECK(trainer.steps_done() == 2);
    CHECK(trainer.guard_state().skipped == 1);
    poison(trainer, before);
    CHECK(values_of(trainer.parameters()) == parameters);
    CHECK(values_of(trainer.moments()) == moments);
    // What follows is what would have followed anyway: Adam's count and the gradients know nothing of the step.
    Trainer plain(three_tokens(), on_rows(three_tokens(), {1, 2, 3}, {2, 3, 4}));
    plain.step();
    const StepReport next = trainer.step(), expected = plain.step();
    CHECK(next.updated);
    CHECK(next.loss == expected.loss);
    CHECK(values_of(trainer.parameters()) == values_of(plain.parameters()));
    CHECK(trainer.guard_state().skipped_in_a_row == 0);
}

TEST_CASE("B21: ten steps in a row may be left out, the eleventh ends the run") {
    Trainer trainer(three_tokens({"train.on_non_finite=skip"}), on_rows(three_tokens(), {1, 2, 3}, {2, 3, 4}));
    poison(trainer, not_a_number);
    for (int i = 0; i < 10; ++i) CHECK(trainer.step().fault == StepFault::non_finite);
    CHECK_THROWS_MESSAGE(trainer.step(), NumericError, "10 steps in a row");
    CHECK(trainer.steps_done() == 10);
}

TEST_CASE("a spike is skipped with parameters and moments as before, and the next step learns") {
    // Thirty rows that are soon learned, then one whose targets never came before.
    const Config config = three_tokens({"train.spike_factor=3", "train.learning_rate=0.01"});
    Trainer trainer(config, one_odd_row(config, 40, 30, {20, 21, 22}));
    for (int i = 0; i < 30; ++i) CHECK(trainer.step().updated);
    const std::vector<double> parameters = values_of(trainer.parameters()), moments = values_of(trainer.moments());
    const StepReport spike = trainer.step();
    CHECK(spike.fault == StepFault::spike);
    CHECK(!spike.updated);
    CHECK(std::isfinite(spike.loss));
    CHECK_THAT(spike.fault_text, contains("step 31") && contains("spike") && contains("train.spike_factor is 3"));
    CHECK(values_of(trainer.parameters()) == parameters);
    CHECK(values_of(trainer.moments()) == moments);
    CHECK(trainer.step().updated);
    CHECK(values_of(trainer.parameters()) != parameters);
}

TEST_CASE("on_spike stop ends the run with the norm and the usual one") {
    const Config config =
        three_tokens({"train.spike_factor=3", "train.learning_rate=0.01", "train.on_spike=stop", "train.max_steps=40"});
    Trainer trainer(config, one_odd_row(config, 40, 30, {20, 21, 22}));
    CHECK_THROWS_MESSAGE(trainer.run(), NumericError, "step 31: the gradient norm");
    CHECK(trainer.steps_done() == 30);
}

TEST_CASE("a rollback without a checkpoint is an error that says so") {
    const Config config = three_tokens({"train.on_non_finite=rollback", "train.checkpoint_every=5"});
    Trainer trainer(config, on_rows(config, {1, 2, 3}, {2, 3, 4}));
    poison(trainer, not_a_number);
    CHECK_THROWS_MESSAGE(trainer.step(), NumericError, "checkpoint");
}

TEST_CASE("a rollback takes up the newest checkpoint and goes on with the data after the bad step") {
    const TemporaryFolder folder;
    const Config config = three_tokens({"train.spike_factor=3", "train.learning_rate=0.01", "train.on_spike=rollback",
                                        "train.checkpoint_every=25", "train.max_steps=40"});
    Trainer trainer(config, one_odd_row(config, 60, 30, {20, 21, 22}));
    RunCheckpoints checkpoints(RunFolder{folder.file("run")}, trainer);
    std::vector<std::string> reasons;
    trainer.on_rollback([&](const std::string& reason) {
        reasons.push_back(reason);
        checkpoints.roll_back();
    });
    std::vector<double> saved;
    std::vector<std::int64_t> told;
    RunHooks hooks;
    hooks.on_step = [&](const Progress& progress) {
        told.push_back(progress.step.step);
        if (progress.step.step != 25 || !saved.empty()) return;
        checkpoints.save("");
        saved = values_of(trainer.parameters());
    };
    while (trainer.state().window < 30) {
        StepReport report = trainer.step();
        hooks.on_step({report, {}, {}, 0, {}});
    }
    const StepReport bad = trainer.step();
    CHECK(bad.rolled_back);
    CHECK(bad.step == 31);
    REQUIRE(reasons.size() == 1);
    CHECK_THAT(reasons[0], contains("step 31: the gradient norm"));
    CHECK(trainer.steps_done() == 25);
    CHECK(trainer.state().window == 31);
    CHECK(values_of(trainer.parameters()) == saved);
    told.clear();
    CHECK(trainer.run(hooks).last_step.step == 40);
    CHECK(told.size() == 15);
    CHECK(told.front() == 26);
}

TEST_CASE("rollbacks that get no further end the run") {
    Guards guards(with_spike_factor(3));
    for (int i = 0; i < 10; ++i) {
        guards.updated(7, 1);  // not further than step 8
        guards.rolling_back(8, "text");
    }
    CHECK_THROWS_MESSAGE(guards.rolling_back(8, "text"), NumericError, "went back to a checkpoint 10 times");
    guards.updated(9, 1);
    CHECK_NOTHROW(guards.rolling_back(10, "text"));
}

TEST_CASE("B21: a gradient whose square the optimizer cannot keep is a fault, not a parameter that stops learning") {
    for (const char* optimizer : {"adamw", "sgd"}) {
        Config config = three_tokens(
            {fmt::format("train.optimizer={}", optimizer), "train.weight_decay=0", "train.max_grad_norm=0"});
        Trainer trainer(config, on_rows(config, {1, 2, 3}, {2, 3, 4}));
        const NamedTensor gain = find(trainer.parameters(), "ln_f.weight");
        for (std::int64_t i = 0; i < gain.view.desc.stored_elements; ++i) gain.view.as<float>()[i] = 1e25f;
        trainer.refresh();
        const std::vector<double> before = values_of(trainer.parameters());
        if (config.train.optimizer == OptimizerKind::adamw) {
            CHECK_THROWS_MESSAGE(trainer.step(), NumericError, "beyond what the optimizer can keep");
            CHECK(values_of(trainer.parameters()) == before);
        } else {
            CHECK(trainer.step().updated);  // no squares are kept
        }
    }
}

TEST_CASE("a step without valid targets is no fault, and does not count as one of a row") {
    const Config config = three_tokens({"train.on_non_finite=skip"});
    Trainer trainer(config, one_odd_row(config, 3, 1, {none, none, none}));
    trainer.step();
    const StepReport empty = trainer.step();
    CHECK(!empty.updated);
    CHECK(empty.fault == StepFault::none);
    CHECK(trainer.guard_state().skipped == 0);
}
