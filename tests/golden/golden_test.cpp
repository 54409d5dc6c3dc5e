// Whole models against PyTorch: logits, loss, every gradient, then ten steps of training. README.md says what the files
// hold and how they were made.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "exec/model_runtime.hpp"
#include "golden/golden_support.hpp"
#include "io/safetensors.hpp"
#include "support/catch.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

struct Tolerance {
    double loss;   ///< relative
    double value;  ///< absolute and relative
};
constexpr Tolerance single{1e-4, 1e-5};
constexpr Tolerance wide{1e-10, 1e-10};

std::vector<std::string> case_names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(CAUSEWAY_TESTS_DIR "/golden")) {
        if (std::filesystem::exists(entry.path() / "batches.safetensors"))
            names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// One case: its files, and trainers on its batches.
class Golden {
  public:
    explicit Golden(const std::string& name)
        : folder_(CAUSEWAY_TESTS_DIR "/golden/" + name),
          batches_(folder_ + "/batches.safetensors"),
          expected_(folder_ + "/expected.safetensors") {}

    /// Starts from the case's parameters and trains on its batches; the first one is the validation set.
    std::unique_ptr<Trainer> trainer(std::string_view isa, DType dtype, std::int64_t accumulation = 0) const {
        Config config = load_config(folder_ + "/config.json");
        config.runtime.isa = isa;
        if (accumulation > 0) config.train.gradient_accumulation_steps = accumulation;
        const std::int64_t rows = config.train.batch_size, length = config.train.sequence_length;
        const auto inputs = read_values<std::int32_t>(batches_, "inputs"),
                   targets = read_values<std::int32_t>(batches_, "targets");
        TrainerOptions options = on_rows(config, inputs, targets, dtype);
        options.data.validation = std::make_unique<WrittenRows>(rows, length, inputs, targets, rows);
        auto trainer = std::make_unique<Trainer>(config, std::move(options));
        REQUIRE(trainer->load_parameters(folder_ + "/parameters.safetensors").empty());
        return trainer;
    }

    std::vector<double> expected(const std::string& name) const { return read_values<double>(expected_, name); }

  private:
    std::string folder_;
    SafetensorsFile batches_, expected_;
};

/// The largest |a - b| / (1 + |b|) of two arrays: to be compared with an absolute plus relative tolerance.
double worst(const std::vector<double>& found, const std::vector<double>& expected) {
    REQUIRE(found.size() == expected.size());
    double worst = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const double error = std::abs(found[i] - expected[i]) / (1 + std::abs(expected[i]));
        worst = std::isfinite(error) ? std::max(worst, error) : INFINITY;
    }
    return worst;
}

double relative(double found, double expected) { return std::abs(found - expected) / std::abs(expected); }

void check_first_batch(const Golden& golden, std::string_view isa, DType dtype, const Tolerance& tolerance) {
    const auto trainer = golden.trainer(isa, dtype, 1);
    CHECK(relative(trainer->evaluate().loss, golden.expected("loss")[0]) <= tolerance.loss);
    Executor& logits = trainer->runtime().executor("logits");
    const auto found = values_of({{"logits", logits.view(logits.plan().index_of("logits"))}});
    CHECK(worst(found, golden.expected("logits")) <= tolerance.value);

    const StepReport step = trainer->step();
    CHECK(relative(step.loss, golden.expected("loss")[0]) <= tolerance.loss);
    const std::vector<NamedTensor> gradients = trainer->gradients();
    CHECK(gradients.size() == trainer->parameters().size());
    for (const NamedTensor& gradient : gradients) {
        std::vector<double> mean = values_of({gradient});
        for (double& value : mean) value /= static_cast<double>(step.valid_tokens);
        const std::string name = gradient.name.substr(0, gradient.name.size() - std::string(".grad").size());
        INFO("gradient of " << name);
        CHECK(worst(mean, golden.expected("gradients." + name)) <= tolerance.value);
    }
}

void check_ten_steps(const Golden& golden, std::string_view isa, DType dtype, const Tolerance& tolerance) {
    const auto trainer = golden.trainer(isa, dtype);
    const auto losses = golden.expected("losses"), norms = golden.expected("gradient_norms"),
               rates = golden.expected("learning_rates");
    REQUIRE(losses.size() == 10);
    for (std::size_t i = 0; i < losses.size(); ++i) {
        INFO("step " << i + 1);
        const StepReport step = trainer->step();
        CHECK(relative(step.loss, losses[i]) <= tolerance.loss);
        CHECK(relative(step.grad_norm, norms[i]) <= 10 * tolerance.loss);
        CHECK(relative(step.learning_rate, rates[i]) <= 1e-12);
    }
    CHECK(relative(trainer->evaluate().loss, golden.expected("final_loss")[0]) <= tolerance.loss);
}

}  // namespace

TEST_CASE("all golden cases are there") { CHECK(case_names().size() >= 10); }

TEST_CASE("logits, loss and every gradient of the first batch are PyTorch's") {
    for (const std::string& name : case_names()) {
        const Golden golden(name);
        for (const std::string& isa : isas()) {
            INFO(name << " on " << isa);
            check_first_batch(golden, isa, DType::f32, single);
        }
    }
}

TEST_CASE("ten training steps follow PyTorch's losses, gradient norms and learning rates") {
    for (const std::string& name : case_names()) {
        const Golden golden(name);
        for (const std::string& isa : isas()) {
            INFO(name << " on " << isa);
            check_ten_steps(golden, isa, DType::f32, single);
        }
    }
}

TEST_CASE("in double, the reference kernels and PyTorch agree to ten digits") {
    for (const std::string& name : case_names()) {
        INFO(name);
        const Golden golden(name);
        check_first_batch(golden, "reference", DType::f64, wide);
        check_ten_steps(golden, "reference", DType::f64, wide);
    }
}
