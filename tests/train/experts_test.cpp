#include <algorithm>
#include <cmath>

#include "exec/model_runtime.hpp"
#include "support/catch.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

/// Rows of a fixed pattern whose targets count where `counts(position)` says so.
template <class Counts>
TrainerOptions some_rows(const Config& config, Counts counts) {
    const auto vocab = static_cast<std::int32_t>(config.model.vocab_size);
    const auto size = static_cast<std::size_t>(config.train.batch_size * config.train.sequence_length);
    std::vector<std::int32_t> inputs(size), targets(size);
    for (std::size_t i = 0; i < size; ++i) {
        inputs[i] = static_cast<std::int32_t>(i * i + 3 * i) % vocab;
        targets[i] = counts(i) ? static_cast<std::int32_t>(7 * i) % vocab : ignore_index;
    }
    return on_rows(config, inputs, targets, DType::f64);
}

Config experts(const std::vector<std::string>& more = {}) { return small_gpt2(expert_blocks(more)); }

/// The gradients of the mean loss, of the first step.
template <class Counts>
std::vector<double> mean_gradients(const std::string& coefficient, Counts counts) {
    const Config config = experts({"model.router_aux_loss_coef=" + coefficient});
    Trainer trainer(config, some_rows(config, counts));
    const StepReport step = trainer.step();
    std::vector<double> gradients = values_of(trainer.gradients());
    for (double& gradient : gradients) gradient /= static_cast<double>(step.valid_tokens);
    return gradients;
}

}  // namespace

TEST_CASE("A step reports each layer's load and the auxiliary loss, but leaves that out of the loss") {
    const Config none = experts({"model.router_aux_loss_coef=0"}), much = experts({"model.router_aux_loss_coef=50"});
    const auto all = [](std::size_t) { return true; };
    Trainer a(none, some_rows(none, all)), b(much, some_rows(much, all));
    const StepReport first = a.step(), second = b.step();
    CHECK(first.loss == second.loss);
    REQUIRE((first.experts && second.experts));
    CHECK(first.experts->aux_loss == second.experts->aux_loss);
    CHECK(first.experts->experts == 5);
    REQUIRE(first.experts->load.size() == 10);
    for (const std::size_t layer : {0u, 1u}) {
        double sum = 0;
        for (const double share : first.experts->load.subspan(5 * layer, 5)) {
            CHECK(share >= 0);
            CHECK(share <= 0.5 + 1e-12);  // a token goes to an expert once, and has two choices
            sum += share;
        }
        CHECK(sum == Approx(1));
    }
    // A fresh router's scores are all about 1/5: 2 layers of sum(f) = 2.
    CHECK(first.experts->aux_loss == Approx(4).epsilon(0.2));
    CHECK(values_of(a.gradients()) != values_of(b.gradients()));
}

TEST_CASE("The auxiliary loss weighs as much whatever the number of targets that count") {
    const auto all = [](std::size_t) { return true; };
    const auto few = [](std::size_t i) { return i % 5 == 2; };
    const auto added = [](const std::vector<double>& with, const std::vector<double>& without) {
        std::vector<double> difference;
        for (std::size_t i = 0; i < with.size(); ++i) difference.push_back(with[i] - without[i]);
        return difference;
    };
    const auto of_all = added(mean_gradients("0.5", all), mean_gradients("0", all));
    const auto of_few = added(mean_gradients("0.5", few), mean_gradients("0", few));
    double largest = 0, error = 0;
    for (std::size_t i = 0; i < of_all.size(); ++i) {
        largest = std::max(largest, std::abs(of_all[i]));
        error = std::max(error, std::abs(of_all[i] - of_few[i]));
    }
    CHECK(largest > 1e-4);
    CHECK(error < 1e-12);
}

TEST_CASE("Over one layer both scopes of the auxiliary loss are the same, over two they are not") {
    const auto aux_of = [](const std::string& scope, const std::string& layers) {
        const Config config = experts({"model.router_aux_loss_scope=" + scope, "model.num_hidden_layers=" + layers});
        return Trainer(config, some_rows(config, [](std::size_t) { return true; })).step().experts->aux_loss;
    };
    CHECK(aux_of("layer", "1") == Approx(aux_of("model", "1")).epsilon(1e-12));
    CHECK(aux_of("layer", "2") == Approx(2 * aux_of("model", "2")).epsilon(0.1));
    CHECK(aux_of("layer", "2") != 2 * aux_of("model", "2"));
}

TEST_CASE("Accumulated micro-batches report the load of all of them") {
    const Config config = experts({"train.gradient_accumulation_steps=3", "train.batch_size=2"});
    Trainer trainer(config);
    const StepReport report = trainer.step();
    double sum = 0;
    for (const double share : report.experts->load) sum += share;
    CHECK(sum == Approx(2));
}

TEST_CASE("A strong auxiliary loss evens out the load") {
    const auto most_loaded = [](const std::string& coefficient) {
        const Config config =
            experts({"model.num_experts=4", "model.num_experts_per_tok=1", "train.warmup_steps=0",
                     "train.max_steps=200", "model.init=pytorch", "model.router_aux_loss_coef=" + coefficient});
        Trainer trainer(config);
        StepReport report;
        for (int i = 0; i < 100; ++i) report = trainer.step();
        return *std::ranges::max_element(report.experts->load);
    };
    CHECK(most_loaded("1") < 0.5);
}

TEST_CASE("Models without experts report none") {
    Trainer trainer(small_gpt2());
    CHECK_FALSE(trainer.step().experts);
}
