#include <atomic>
#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

constexpr std::int32_t none = ignore_index;

Config three_tokens(const std::vector<std::string>& overrides = {}) {
    std::vector<std::string> all{"train.sequence_length=3", "train.batch_size=1", "data.lookback=1"};
    all.insert(all.end(), overrides.begin(), overrides.end());
    return small_gpt2(all);
}

bool all_finite(const std::vector<double>& values) {
    for (double value : values) {
        if (!std::isfinite(value)) return false;
    }
    return true;
}

}  // namespace

TEST_CASE("B06: a step without any valid target changes nothing and says so") {
    const Config config = three_tokens();
    Trainer trainer(config, on_rows(config, {1, 2, 3}, {none, none, none}));
    const std::vector<double> before = values_of(trainer.parameters());
    const StepReport report = trainer.step();
    CHECK(!report.updated);
    CHECK(report.valid_tokens == 0);
    CHECK(report.loss == 0);
    CHECK(report.grad_norm == 0);
    CHECK(values_of(trainer.parameters()) == before);
    for (double value : values_of(trainer.gradients())) REQUIRE(value == 0);
    for (double value : values_of(trainer.moments())) REQUIRE(value == 0);
    CHECK(trainer.steps_done() == 1);
}

TEST_CASE("B06: a micro-batch without valid targets inside a window adds exactly nothing") {
    const Config two = three_tokens({"train.gradient_accumulation_steps=2"}), one = three_tokens();
    const std::vector<std::int32_t> ids{1, 2, 3, 4, 5, 6};
    Trainer alone(one, on_rows(one, {1, 2, 3}, {2, 3, 4}));
    const StepReport expected = alone.step();
    for (bool first : {true, false}) {
        const std::vector<std::int32_t> targets = first ? std::vector<std::int32_t>{none, none, none, 2, 3, 4}
                                                        : std::vector<std::int32_t>{2, 3, 4, none, none, none};
        const std::vector<std::int32_t> inputs =
            first ? std::vector<std::int32_t>{4, 5, 6, 1, 2, 3} : std::vector<std::int32_t>{1, 2, 3, 4, 5, 6};
        Trainer trainer(two, on_rows(two, inputs, targets));
        const StepReport report = trainer.step();
        CHECK(report.updated);
        CHECK(report.valid_tokens == 3);
        CHECK(report.loss == expected.loss);
        CHECK(values_of(trainer.gradients()) == values_of(alone.gradients()));
        CHECK(values_of(trainer.parameters()) == values_of(alone.parameters()));
        CHECK(all_finite(values_of(trainer.parameters())));
    }
}

TEST_CASE("B06: a skipped step does not count as one of Adam's") {
    const Config config = three_tokens({"train.lr_schedule=constant", "train.warmup_steps=0"});
    Trainer skipping(config, on_rows(config, {4, 5, 6, 1, 2, 3}, {none, none, none, 2, 3, 4}));
    Trainer plain(config, on_rows(config, {1, 2, 3}, {2, 3, 4}));
    skipping.step();
    skipping.step();
    plain.step();
    CHECK(values_of(skipping.parameters()) == values_of(plain.parameters()));
}

TEST_CASE("B07: a target outside the vocabulary is refused with value, position and range, before anything runs") {
    const Config config = three_tokens();
    for (std::int32_t bad : {-1, -99, -101, 29, 1000000}) {
        Trainer trainer(config, on_rows(config, {1, 2, 3}, {2, bad, 4}));
        const std::vector<double> before = values_of(trainer.parameters());
        CHECK_THROWS_MESSAGE(trainer.step(), DataError, std::to_string(bad));
        CHECK_THROWS_MESSAGE(trainer.step(), DataError, "position 1");
        CHECK_THROWS_MESSAGE(trainer.step(), DataError, "[0, 29)");
        CHECK_THROWS_MESSAGE(trainer.step(), DataError, "training targets");
        CHECK(values_of(trainer.parameters()) == before);
        CHECK(trainer.steps_done() == 0);
    }
}

TEST_CASE("B07, B58: so is an input, where even the ignored label is no token") {
    const Config config = three_tokens();
    for (std::int32_t bad : {-1, none, 29}) {
        Trainer trainer(config, on_rows(config, {1, 2, bad}, {2, 3, 4}));
        CHECK_THROWS_MESSAGE(trainer.step(), DataError, std::to_string(bad));
        CHECK_THROWS_MESSAGE(trainer.step(), DataError, "position 2");
        CHECK_THROWS_MESSAGE(trainer.step(), DataError, "training inputs");
    }
    TrainerOptions options = on_rows(config, {1, 2, 3}, {2, 3, 4});
    options.data.validation =
        std::make_unique<WrittenRows>(1, 3, std::vector<std::int32_t>{1, 2, 77}, std::vector<std::int32_t>{2, 3, 4}, 1);
    Trainer trainer(config, std::move(options));
    CHECK_THROWS_MESSAGE(trainer.evaluate(), DataError, "validation inputs");
}

TEST_CASE("B21: a NaN or infinity stops the step, names it and a parameter, and leaves the weights alone") {
    for (const float poison : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
        for (const bool fuse : {true, false}) {
            TrainerOptions options;
            options.fuse = fuse;
            Trainer trainer(small_gpt2(), std::move(options));
            trainer.step();
            find(trainer.parameters(), "h.1.mlp.fc.weight").view.as<float>()[5] = poison;
            trainer.refresh();
            const std::vector<double> moments = values_of(trainer.moments());
            std::vector<double> before = values_of(trainer.parameters());
            CHECK_THROWS_MESSAGE(trainer.step(), NumericError, "step 2");
            CHECK_THROWS_MESSAGE(trainer.step(), NumericError, ".grad'");
            std::vector<double> after = values_of(trainer.parameters());
            for (auto* values : {&before, &after}) {
                for (double& value : *values) value = std::isfinite(value) ? value : 1e300;
            }
            CHECK(after == before);
            CHECK(values_of(trainer.moments()) == moments);
            CHECK(trainer.steps_done() == 1);
        }
    }
}

TEST_CASE("B21: gradients far beyond the square root of the largest float are clipped, not lost") {
    const Config config = three_tokens({"train.max_grad_norm=1"});
    Trainer trainer(config, on_rows(config, {1, 2, 3}, {2, 3, 4}));
    // A head whose weights are huge makes the gradients of everything below it huge too.
    for (const NamedTensor& tensor : trainer.parameters()) {
        if (tensor.name != "ln_f.weight") continue;
        for (std::int64_t i = 0; i < tensor.view.desc.stored_elements; ++i) tensor.view.as<float>()[i] = 1e25f;
    }
    trainer.refresh();
    const StepReport report = trainer.step();
    CHECK(report.updated);
    CHECK(report.grad_norm > 1e20);
    CHECK(all_finite(values_of(trainer.parameters())));
}

TEST_CASE("B21: a validation loss that is not finite is an error") {
    Trainer trainer(small_gpt2());
    find(trainer.parameters(), "wte.weight").view.as<float>()[0] = std::numeric_limits<float>::quiet_NaN();
    trainer.refresh();
    CHECK_THROWS_MESSAGE(trainer.evaluate(), NumericError, "validation loss");
}

TEST_CASE("a run ends where its stop flag is set, without another evaluation") {
    Trainer trainer(small_gpt2({"train.max_steps=30"}));
    std::atomic<bool> stop{false};
    RunHooks hooks;
    hooks.stop = &stop;
    hooks.on_step = [&](const Progress& progress) {
        if (progress.step.step == 7) stop = true;
    };
    const RunResult result = trainer.run(hooks);
    CHECK(result.stopped);
    CHECK(result.last_step.step == 7);
    CHECK(!result.validation);
    CHECK(trainer.run(hooks).stopped);
    CHECK(trainer.steps_done() == 7);
    stop = false;
    CHECK(trainer.run(hooks).last_step.step == 30);
}

namespace {

/// A long validation set, during which somebody asks for the end.
class AskingForTheEnd final : public BatchSource {
  public:
    AskingForTheEnd(const Config& config, std::atomic<bool>& stop, std::atomic<int>& rows)
        : BatchSource(config.train.batch_size, config.train.sequence_length), stop_(stop), rows_(rows) {}
    std::int64_t rows_per_epoch() const override { return 1'000'000; }

  private:
    void fill_row(std::int64_t, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) const override {
        std::fill(inputs.begin(), inputs.end(), 1);
        std::fill(targets.begin(), targets.end(), 2);
        stop_ = ++rows_ > 20;
    }

    std::atomic<bool>& stop_;
    std::atomic<int>& rows_;
};

}  // namespace

TEST_CASE("a stop flag set during an evaluation ends it, and nothing of it is reported") {
    const Config config = three_tokens({"train.max_steps=2"});
    std::atomic<bool> stop{false};
    std::atomic<int> rows{0};
    TrainerOptions options = on_rows(config, {1, 2, 3}, {2, 3, 4});
    options.data.validation = std::make_unique<AskingForTheEnd>(config, stop, rows);
    Trainer trainer(config, std::move(options));
    RunHooks hooks;
    hooks.stop = &stop;
    const RunResult result = trainer.run(hooks);
    CHECK(result.last_step.step == 2);
    CHECK(!result.validation);
    CHECK(rows == 21);
}

TEST_CASE("what the memory cannot hold is refused with both figures") {
    CHECK_THROWS_MESSAGE(Trainer(config_file("gpt2_124m.json", {"data.source=repeat", "runtime.memory_limit_mb=100"})),
                         CapacityError, "100.0 MiB");
}

TEST_CASE("B06: an evaluation without any valid target has no loss, accuracy or bits") {
    const Config config = three_tokens();
    TrainerOptions options = on_rows(config, {1, 2, 3}, {2, 3, 4});
    options.data.validation = std::make_unique<WrittenRows>(1, 3, std::vector<std::int32_t>{1, 2, 3},
                                                            std::vector<std::int32_t>{none, none, none}, 1);
    Trainer trainer(config, std::move(options));
    const Evaluation evaluation = trainer.evaluate();
    CHECK(evaluation.valid_tokens == 0);
    CHECK(evaluation.loss == 0);
    CHECK_FALSE(evaluation.accuracy);
    CHECK_FALSE(evaluation.bits_per_byte);
}
