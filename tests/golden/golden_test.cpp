// Whole models against PyTorch: logits, loss, every gradient, then ten steps of training. README.md says what the files
// hold and how they were made.

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/format.hpp"
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

/// What models of the families that exchange checkpoints are held to, in float.
struct FamilyTolerance {
    double logits = 2e-5;           ///< absolute
    double loss = 1e-6;             ///< absolute
    double gradient = 1e-4;         ///< distance from PyTorch's, by its norm
    double every_gradient = 1e-6;   ///< and by the norm of all gradients, added
    double training_losses = 1e-5;  ///< absolute, of ten steps
};
constexpr FamilyTolerance family;
constexpr const char* families[] = {"gpt2_pre",           "llama",     "llama_biases",        "qwen3",       "minimind",
                                    "minimind_one_token", "qwen3_moe", "qwen3_moe_one_token", "minimind_moe"};

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

/// What the files call a gradient.
std::string golden_name(const NamedTensor& gradient) {
    return "gradients." + gradient.name.substr(0, gradient.name.size() - std::string(".grad").size());
}

void check_first_batch(const Golden& golden, std::string_view isa, DType dtype, const Tolerance& tolerance) {
    const auto trainer = golden.trainer(isa, dtype, 1);
    CHECK(relative(trainer->evaluate().loss, golden.expected("loss")[0]) <= tolerance.loss);
    Executor& logits = trainer->runtime().executor("logits");
    const auto found = values_of({{"logits", logits.view(logits.plan().index_of("logits"))}});
    CHECK(worst(found, golden.expected("logits")) <= tolerance.value);

    const StepReport step = trainer->step();
    CHECK(relative(step.loss, golden.expected("loss")[0]) <= tolerance.loss);
    if (step.experts) CHECK(relative(step.experts->aux_loss, golden.expected("aux_loss")[0]) <= tolerance.loss);
    const std::vector<NamedTensor> gradients = trainer->gradients();
    CHECK(gradients.size() == trainer->parameters().size());
    for (const NamedTensor& gradient : gradients) {
        std::vector<double> mean = values_of({gradient});
        for (double& value : mean) value /= static_cast<double>(step.valid_tokens);
        INFO(golden_name(gradient));
        CHECK(worst(mean, golden.expected(golden_name(gradient))) <= tolerance.value);
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

double norm_of(const std::vector<double>& values) {
    double squares = 0;
    for (double value : values) squares += value * value;
    return std::sqrt(squares);
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
    REQUIRE(a.size() == b.size());
    std::vector<double> difference;
    for (std::size_t i = 0; i < a.size(); ++i) difference.push_back(a[i] - b[i]);
    return norm_of(difference);
}

void check_family_gradients(const Golden& golden, const std::vector<NamedTensor>& gradients, double valid_tokens) {
    std::vector<double> norms;
    for (const NamedTensor& gradient : gradients) norms.push_back(norm_of(golden.expected(golden_name(gradient))));
    for (const NamedTensor& gradient : gradients) {
        INFO(golden_name(gradient));
        std::vector<double> mean = values_of({gradient});
        for (double& value : mean) value /= valid_tokens;
        const std::vector<double> expected = golden.expected(golden_name(gradient));
        CHECK(distance(mean, expected) <= family.gradient * norm_of(expected) + family.every_gradient * norm_of(norms));
    }
}

void check_family(const Golden& golden, std::string_view isa) {
    const auto first = golden.trainer(isa, DType::f32, 1);
    CHECK(std::abs(first->evaluate().loss - golden.expected("loss")[0]) <= family.loss);
    Executor& logits = first->runtime().executor("logits");
    const auto found = values_of({{"logits", logits.view(logits.plan().index_of("logits"))}});
    const auto expected = golden.expected("logits");
    double error = 0;
    for (std::size_t i = 0; i < found.size(); ++i) error = std::max(error, std::abs(found[i] - expected[i]));
    CHECK(error <= family.logits);
    const StepReport step = first->step();
    check_family_gradients(golden, first->gradients(), static_cast<double>(step.valid_tokens));

    const auto trainer = golden.trainer(isa, DType::f32);
    for (double loss : golden.expected("losses")) {
        CHECK(std::abs(trainer->step().loss - loss) <= family.training_losses);
    }
}

}  // namespace

TEST_CASE("all golden cases are there") { CHECK(case_names().size() >= 18); }

TEST_CASE("logits, loss and every gradient of the first batch are PyTorch's") {
    for (const std::string& name : case_names()) {
        const Golden golden(name);
        for (const std::string& isa : isas()) {
            INFO(name << " on " << isa);
            check_first_batch(golden, isa, DType::f32, single);
        }
    }
}

TEST_CASE("the families that exchange checkpoints agree more closely") {
    for (const std::string name : families) {
        const Golden golden(name);
        for (const std::string& isa : isas()) {
            INFO(name << " on " << isa);
            check_family(golden, isa);
        }
    }
}

TEST_CASE("with one token the gradients of Q and K, and of their norms, are 0") {
    const Golden golden("minimind_one_token");
    for (const std::string& isa : isas()) {
        INFO(isa);
        const auto trainer = golden.trainer(isa, DType::f32);
        trainer->step();
        const std::vector<NamedTensor> gradients = trainer->gradients();
        const double rounding = family.every_gradient * norm_of(values_of(gradients));
        for (const char* name : {"h.0.attn.q_norm.weight.grad", "h.0.attn.k_norm.weight.grad"}) {
            CHECK(norm_of(values_of({find(gradients, name)})) <= rounding);
        }
        const std::vector<double> qkv = values_of({find(gradients, "h.0.attn.qkv.weight.grad")});
        const auto values_begin = qkv.begin() + (4 + 2) * 16 * 40;  // rows of V, after 4 heads of Q and 2 of K
        CHECK(norm_of({qkv.begin(), values_begin}) <= rounding);
        CHECK(norm_of({values_begin, qkv.end()}) > 1e-3);
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
