#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/process.hpp"
#include "support/catch.hpp"
#include "support/metrics.hpp"
#include "support/temporary_folder.hpp"

// What `causeway train` says and records of limits, faults and evaluations.

using nlohmann::json;

TEST_CASE("A run that a limit of tokens ends says so before and after, and records it") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    const Outcome outcome = call(tiny_training(run, {"--set", "train.max_tokens=100"}));  // 4 x 12 a step
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, contains("run     3 steps (max_tokens) of 4 x 12 tokens") &&
                                contains("done after 3 steps in ") && contains(" (train.max_tokens): loss "));
    const std::vector<json> metrics = metrics_of(run);
    REQUIRE(metrics.size() == 3);
    CHECK(!metrics[1].contains("ended_by"));
    CHECK(metrics[2].at("ended_by") == "max_tokens");
    CHECK(metrics[2].at("val_perplexity").get<double>() > 1);
}

TEST_CASE("A run limited by time alone shows steps without their number, ends well and is evaluated") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    const Outcome outcome = call(tiny_training(run, {"--set", "train.max_steps=0", "--set", "train.max_time_s=0.2"}));
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, contains("run     steps for 0:00 of 4 x 12 tokens") && contains("step 1 | loss ") &&
                                contains("(train.max_time_s)") && contains("perplexity "));
    CHECK(metrics_of(run).back().at("ended_by") == "max_time_s");
}

TEST_CASE("Text is validated in bits a byte too") {
    const TemporaryFolder folder;
    const std::string config = byte_config(folder.file("config.json"), folder.write("text", std::string(2000, 'a')));
    const std::string run = folder.file("run");
    const Outcome outcome = call({"train", config, "--out", run, "--set", "train.max_steps=2"});
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.out, contains(" bits/byte"));
    const json last = metrics_of(run).back();
    CHECK(last.at("val_bits_per_byte").get<double>() ==
          Approx(last.at("val_loss").get<double>() / std::log(2.0)).epsilon(1e-12));
}

TEST_CASE("Steps that are left out are warned of, shown and recorded, and too many in a row end the run") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    // A rate that no model survives: weights grow until a loss is not finite.
    const Outcome outcome =
        call(tiny_training(run, {"--set", "train.learning_rate=1000", "--set", "train.optimizer=sgd", "--set",
                                 "train.max_grad_norm=0", "--set", "train.on_non_finite=skip", "--set",
                                 "train.max_steps=300", "--set", "train.log_every=1", "--set", "train.eval_every=0"}));
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, contains("the step was left out") && contains("10 steps in a row"));
    CHECK_THAT(outcome.out, contains(" | left out: non_finite"));
    int skipped = 0;
    for (const json& line : metrics_of(run)) {
        if (!line.contains("skipped")) continue;
        ++skipped;
        CHECK(line.at("skipped") == "non_finite");
        CHECK(line.at("updated") == false);
    }
    CHECK(skipped >= 10);
}

TEST_CASE("Rollbacks are warned of, their steps recorded once, and when they do not help the run ends") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    const Outcome outcome =
        call(tiny_training(run, {"--set", "train.learning_rate=1000", "--set", "train.optimizer=sgd", "--set",
                                 "train.max_grad_norm=0", "--set", "train.on_non_finite=rollback", "--set",
                                 "train.checkpoint_every=1", "--set", "train.max_steps=300"}));
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 1);
    CHECK_THAT(outcome.err, contains("going on from the checkpoint of step ") && contains("10 times"));
    std::int64_t step = 0;
    for (const json& line : metrics_of(run)) CHECK(line.at("step") == ++step);
    CHECK(step > 0);
}

TEST_CASE("What cannot limit a run is refused before it starts") {
    const TemporaryFolder folder;
    const std::string run = folder.file("run");
    const Outcome epochs =
        call(tiny_training(run, {"--set", "train.max_epochs=2", "--set", "train.steps_per_epoch=0"}));
    CHECK(epochs.code != 0);
    CHECK_THAT(epochs.err, contains("train.max_epochs") && contains("no epochs"));
    const Outcome schedule = call(tiny_training(
        run, {"--set", "train.max_steps=0", "--set", "train.max_time_s=1", "--set", "train.lr_schedule=cosine"}));
    CHECK(schedule.code != 0);
    CHECK_THAT(schedule.err, contains("train.lr_schedule"));
}
