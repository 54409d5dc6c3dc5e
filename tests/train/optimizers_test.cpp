#include <cmath>

#include "support/catch.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

Config sgd(const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{"train.optimizer=sgd", "train.learning_rate=0.1", "train.lr_schedule=constant",
                                 "train.warmup_steps=0", "train.max_grad_norm=0"};
    all.insert(all.end(), more.begin(), more.end());
    return small_gpt2(all);
}

double worst_difference(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
    return worst;
}

}  // namespace

TEST_CASE("SGD with momentum and decay is what its formula says, step by step") {
    TrainerOptions options;
    options.dtype = DType::f64;
    Trainer trainer(sgd({"train.momentum=0.9", "train.weight_decay=0.1", "train.weight_decay_scope=all"}),
                    std::move(options));
    std::vector<double> expected = values_of(trainer.parameters()), momentum(expected.size());
    for (int step = 0; step < 4; ++step) {
        const StepReport report = trainer.step();
        // Gradients come in backward's order: look each one up.
        std::size_t at = 0;
        for (const NamedTensor& parameter : trainer.parameters()) {
            for (const double sum : values_of({find(trainer.gradients(), parameter.name + ".grad")})) {
                momentum[at] = 0.9 * momentum[at] + sum / static_cast<double>(report.valid_tokens) + 0.1 * expected[at];
                expected[at] -= 0.1 * momentum[at];
                ++at;
            }
        }
        CHECK(worst_difference(values_of(trainer.parameters()), expected) <= 1e-12);
    }
    for (const NamedTensor& state : trainer.moments()) CHECK_THAT(state.name, contains(".m"));
    CHECK(trainer.moments().size() == trainer.parameters().size());
    CHECK(Trainer(sgd()).moments().empty());
}

TEST_CASE("every optimizer leaves the packed copies of the weights up to date") {
    const std::vector<std::vector<std::string>> optimizers{
        {"train.optimizer=adamw"},
        {"train.optimizer=adam", "train.weight_decay=0"},
        {"train.optimizer=sgd"},
        {"train.optimizer=sgd", "train.momentum=0.9"},
    };
    for (std::vector<std::string> overrides : optimizers) {
        CAPTURE(overrides);
        // Wide enough that the products want packed weights, with experts' among them.
        overrides.insert(overrides.end(), {"model.hidden_size=96", "train.batch_size=16"});
        const Config config = small_gpt2(expert_blocks(overrides));
        Trainer kept(config), repacked(config);
        for (int step = 0; step < 3; ++step) {
            CHECK(kept.step().loss == repacked.step().loss);
            repacked.refresh();
        }
        CHECK(values_of(kept.parameters()) == values_of(repacked.parameters()));
    }
}

TEST_CASE("SGD learns, with the same bits on any number of threads") {
    const Config one = sgd({"train.momentum=0.9", "runtime.threads=1"}),
                 three = sgd({"train.momentum=0.9", "runtime.threads=3"});
    CHECK(train_steps(one, 20) == train_steps(three, 20));
    // Rows that repeat are soon known by heart.
    const Config config = sgd({"train.momentum=0.9", "train.learning_rate=0.01", "train.max_steps=200",
                               "train.sequence_length=3", "train.batch_size=1", "data.lookback=1"});
    Trainer trainer(config, on_rows(config, {1, 2, 3}, {2, 3, 4}));
    CHECK(trainer.step().loss > 3);
    CHECK(trainer.run().last_step.loss < 2);
}

TEST_CASE("SGD takes the memory of its states: none, or one a parameter") {
    const auto state_bytes = [](const Config& config) {
        return Trainer(config).plan("train").memory.region_bytes[1];  // Region::state, with the gradients
    };
    const std::int64_t plain = state_bytes(sgd()), momentum = state_bytes(sgd({"train.momentum=0.9"})),
                       adam = state_bytes(small_gpt2());
    CHECK(plain < momentum);
    CHECK(momentum - plain == adam - momentum);
}
