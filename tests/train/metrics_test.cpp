#include "train/metrics.hpp"

#include <cmath>
#include <limits>
#include <locale>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;
using namespace causeway::train;
using nlohmann::json;

namespace {

Progress some_progress() {
    Progress progress;
    progress.step.step = 17;
    progress.step.loss = 1.0 / 3;
    progress.step.learning_rate = 6.02e-23;
    progress.step.grad_norm = 0.1;
    progress.step.valid_tokens = 60;
    progress.step.tokens = 64;
    progress.step.seconds = 0.5;
    progress.elapsed_seconds = 12.25;
    return progress;
}

}  // namespace

TEST_CASE("a metrics line has the documented fields, and numbers read back exactly") {
    const json line = json::parse(metrics_line(some_progress()));
    CHECK(line.size() == 6);
    CHECK(line.at("step").get<int>() == 17);
    CHECK(line.at("loss").get<double>() == 1.0 / 3);
    CHECK(line.at("learning_rate").get<double>() == 6.02e-23);
    CHECK(line.at("grad_norm").get<double>() == 0.1);
    CHECK(line.at("tokens_per_second").get<double>() == 128.0);
    CHECK(line.at("elapsed_s").get<double>() == 12.25);
}

TEST_CASE("evaluations and ends of epochs add their fields to the step's line") {
    Progress progress = some_progress();
    progress.validation = Evaluation{2.0 / 3, 100, 0.75, 0.1, 1.25};
    progress.epoch = EpochReport{2, 1.0 / 7};
    progress.step.updated = false;
    const json line = json::parse(metrics_line(progress));
    CHECK(line.at("val_loss").get<double>() == 2.0 / 3);
    CHECK(line.at("val_accuracy").get<double>() == 0.75);
    CHECK(line.at("val_perplexity").get<double>() == std::exp(2.0 / 3));
    CHECK(line.at("val_bits_per_byte").get<double>() == 1.25);
    CHECK(line.at("epoch").get<int>() == 2);
    CHECK(line.at("epoch_mean_loss").get<double>() == 1.0 / 7);
    CHECK(line.at("updated").get<bool>() == false);
}

TEST_CASE("B06 an evaluation in which no target counts adds nothing") {
    Progress progress = some_progress();
    progress.validation = Evaluation{};
    CHECK(metrics_line(progress) == metrics_line(some_progress()));
}

TEST_CASE("a step that was left out says why, and the last line of a run what ended it") {
    Progress progress = some_progress();
    progress.step.loss = std::numeric_limits<double>::quiet_NaN();
    progress.step.updated = false;
    progress.step.fault = StepFault::non_finite;
    progress.ended_by = EndedBy::max_time_s;
    json line = json::parse(metrics_line(progress));
    CHECK(line.at("loss").is_null());
    CHECK(line.at("updated").get<bool>() == false);
    CHECK(line.at("skipped").get<std::string>() == "non_finite");
    CHECK(line.at("ended_by").get<std::string>() == "max_time_s");
    progress.step.fault = StepFault::spike;
    progress.ended_by.reset();
    line = json::parse(metrics_line(progress));
    CHECK(line.at("skipped").get<std::string>() == "spike");
    CHECK(!line.contains("ended_by"));
    CHECK(!line.contains("val_perplexity"));
}

TEST_CASE("models with experts add their auxiliary loss and each layer's load") {
    Progress progress = some_progress();
    const std::vector<double> load{0.25, 0.75, 1.0 / 3, 2.0 / 3};
    progress.step.experts = ExpertReport{1.25, 2, load};
    const json line = json::parse(metrics_line(progress));
    CHECK(line.at("aux_loss").get<double>() == 1.25);
    CHECK(line.at("expert_load").size() == 2);
    CHECK(line.at("expert_load")[0].get<std::vector<double>>() == std::vector<double>{0.25, 0.75});
    CHECK(line.at("expert_load")[1].get<std::vector<double>>() == std::vector<double>{1.0 / 3, 2.0 / 3});
}

TEST_CASE("a value that JSON cannot write becomes null") {
    Progress progress = some_progress();
    progress.step.seconds = 0;
    progress.step.grad_norm = std::numeric_limits<double>::quiet_NaN();
    const json line = json::parse(metrics_line(progress));
    CHECK(line.at("tokens_per_second").is_null());
    CHECK(line.at("grad_norm").is_null());
}

TEST_CASE("B60: a locale with decimal commas and grouped digits changes no number") {
    struct German : std::numpunct<char> {
        char do_decimal_point() const override { return ','; }
        char do_thousands_sep() const override { return '.'; }
        std::string do_grouping() const override { return "\3"; }
    };
    Progress progress = some_progress();
    progress.step.step = 1234567;
    const std::string expected = metrics_line(progress);
    const std::locale before = std::locale::global(std::locale(std::locale::classic(), new German));
    const std::string found = metrics_line(progress);
    std::locale::global(before);
    CHECK(found == expected);
    CHECK(found.find("\"step\":1234567,\"loss\":0.3333333333333333,") != std::string::npos);
}

TEST_CASE("each line is in the file when write returns, and a new run begins a new file") {
    const TemporaryFolder folder;
    const std::string path = folder.write("metrics.jsonl", "old\n");
    MetricsWriter writer(path);
    CHECK(content_of(path).empty());
    writer.write(some_progress());
    CHECK(content_of(path) == metrics_line(some_progress()) + "\n");
    writer.write(some_progress());
    std::istringstream lines(content_of(path));
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) CHECK(json::parse(line).at("step") == 17);
    CHECK(count == 2);
}
