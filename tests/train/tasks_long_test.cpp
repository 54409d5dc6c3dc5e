#include "support/catch.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

// lookback_copy is short enough for every run of the tests: learning_test.cpp.
TEST_CASE("induction.json is learned from every seed") {
    for (int seed : {42, 1, 2}) {
        Trainer trainer(config_file("induction.json", {"train.seed=" + std::to_string(seed)}));
        const Evaluation evaluation = trainer.run().validation.value();
        INFO("seed " << seed);
        CHECK(evaluation.accuracy.value() >= 0.99);
        CHECK(evaluation.loss <= 0.05);
    }
}
