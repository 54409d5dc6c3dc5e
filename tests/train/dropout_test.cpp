#include "support/catch.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

Config dropped(std::vector<std::string> overrides = {}) {
    for (const char* field : {"attention_dropout", "embd_pdrop", "resid_pdrop"}) {
        overrides.push_back(std::string("model.") + field + "=0.2");
    }
    return small_gpt2(overrides);
}

}  // namespace

TEST_CASE("Training with dropout is the same bits whatever is recomputed and on any number of threads") {
    const Trace expected = train_steps(dropped(), 6);
    CHECK(train_steps(dropped(), 6) == expected);
    CHECK(!(train_steps(dropped({"train.seed=8"}), 6) == expected));
    CHECK(!(train_steps(small_gpt2(), 6) == expected));
    for (const char* choice : {"attention_free", "block"}) {
        INFO(choice);
        CHECK(train_steps(dropped({std::string("train.recompute=") + choice}), 6) == expected);
    }
    for (const char* threads : {"2", "3", "8"}) {
        INFO(threads << " threads");
        CHECK(train_steps(dropped({std::string("runtime.threads=") + threads}), 6) == expected);
    }
}

TEST_CASE("Dropout draws anew each step, and for each micro-batch") {
    // One row, repeated, and a learning rate that changes nothing: only dropout makes losses differ.
    const std::vector<std::int32_t> inputs{3, 1, 4, 1, 5}, targets{1, 4, 1, 5, 9};
    Config config =
        dropped({"train.sequence_length=5", "train.batch_size=1", "train.learning_rate=1e-30", "train.weight_decay=0"});
    Trainer trainer(config, on_rows(config, inputs, targets));
    const double first = trainer.step().loss, second = trainer.step().loss;
    CHECK(first != second);
    config.train.gradient_accumulation_steps = 2;
    Trainer micro(config, on_rows(config, inputs, targets));
    CHECK(micro.step().loss != first);
}
