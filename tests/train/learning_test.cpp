#include <cmath>

#include "support/catch.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

TEST_CASE("S1-23: a small attention-only model at least halves its loss") {
    const Config config =
        config_file("repeat_h4.json", {"model.vocab_size=32", "model.hidden_size=16", "train.sequence_length=10",
                                       "model.max_position_embeddings=10", "train.max_steps=100"});
    Trainer trainer(config);
    const double first = trainer.step().loss;
    CHECK(first == Approx(std::log(32.0)).margin(0.2));
    while (trainer.steps_done() < 100) trainer.step();
    CHECK(trainer.evaluate().loss < first / 2);
}

TEST_CASE("MiniMind's blocks learn: a small one copies what lies two positions back") {
    Trainer trainer(
        small_gpt2(minimind_blocks({"train.max_steps=400", "train.batch_size=16", "train.learning_rate=0.01",
                                    "model.num_hidden_layers=1", "train.weight_decay=0"})));
    const double first = trainer.step().loss;
    CHECK(first == Approx(std::log(29.0)).margin(0.2));
    while (trainer.steps_done() < 400) trainer.step();
    CHECK(trainer.evaluate().loss < first / 2);
}

TEST_CASE("S1-17..21: one seed of repeat_h4 has 8,384 parameters and the reference's epoch means") {
    Trainer trainer(config_file("repeat_h4.json"));
    CHECK(trainer.parameter_count() == 8384);
    CHECK(trainer.steps_per_epoch() == 120);
    std::vector<EpochReport> epochs;
    RunHooks hooks;
    hooks.on_step = [&](const Progress& progress) {
        if (progress.step.step == 1) CHECK(progress.step.loss == Approx(std::log(64.0)).margin(0.1));
        if (progress.epoch) epochs.push_back(*progress.epoch);
    };
    const RunResult result = trainer.run(hooks);
    REQUIRE(epochs.size() == 3);
    CHECK((epochs[0].mean_loss > 2.66 && epochs[0].mean_loss < 3.03));
    CHECK((epochs[1].mean_loss > 0.018 && epochs[1].mean_loss < 0.11));
    CHECK((epochs[2].mean_loss > 0.0025 && epochs[2].mean_loss < 0.0052));
    REQUIRE(result.validation);
    CHECK(result.validation->loss < 0.0052);
    CHECK(result.validation->accuracy.value() == 1.0);
}

TEST_CASE("lookback_copy.json is learned: all of what can be known is predicted") {
    Trainer trainer(config_file("lookback_copy.json"));
    const Evaluation before = trainer.evaluate();
    CHECK(before.accuracy.value() < 0.2);
    CHECK(before.valid_tokens == 256 * (32 - 3));
    const Evaluation after = trainer.run().validation.value();
    CHECK(after.accuracy.value() >= 0.999);
    CHECK(after.loss <= 0.02);
}
