// Models as transformers saves them, against what it computes with them in float64: logits, loss, every gradient under
// its name in the file, ten steps of AdamW. README.md says what the folders hold and how they were made.

#include <algorithm>
#include <cmath>

#include "base/format.hpp"
#include "golden/golden_support.hpp"
#include "infer/evaluation.hpp"
#include "io/checkpoint/load.hpp"
#include "io/checkpoint/save.hpp"
#include "io/run_folder.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "train/train_support.hpp"

using namespace causeway;

namespace {

/// One line each: the folders are tests/golden/hf_<name>.
const std::vector<std::string> models{"gpt2",     "llama",     "llama_biases", "qwen3",
                                      "minimind", "qwen3_moe", "minimind_moe"};

struct Tolerance {
    double logit, loss;     ///< absolute
    double gradient, rest;  ///< of the tensor's norm, of the norm of all gradients
};
constexpr Tolerance single{2e-5, 1e-6, 1e-4, 1e-6};
constexpr Tolerance wide{1e-10, 1e-11, 2e-7, 1e-9};          // the files hold gradients in float32
constexpr Tolerance rounded_angles{1e-6, 1e-7, 1e-6, 1e-8};  // transformers' tables of rotary positions are float32

std::string folder_of(const std::string& model) { return CAUSEWAY_TESTS_DIR "/golden/hf_" + model; }

std::vector<std::int32_t> ids_of(const SafetensorsFile& file, const std::string& name) {
    const auto wide_ids = read_values<std::int64_t>(file, name);
    return {wide_ids.begin(), wide_ids.end()};
}

double norm(const std::vector<float>& values) {
    double sum = 0;
    for (const float value : values) sum += static_cast<double>(value) * value;
    return std::sqrt(sum);
}

double distance(std::vector<float> a, const std::vector<float>& b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
    return norm(a);
}

/// One batch of a folder: "t1", "t3", "t33", "padded".
struct Case {
    const SafetensorsFile& expected;
    std::string name;
    Evaluator::Options options{};

    std::string of(const std::string& what) const { return name + "." + what; }
};

std::vector<std::int32_t> mask_of(const Case& c) {
    return c.options.masked ? ids_of(c.expected, c.of("mask")) : std::vector<std::int32_t>{};
}

/// What is computed for padding is nobody's to compare.
double worst_logit(const Case& c, const TensorView& found) {
    const auto expected = read_values<double>(c.expected, c.of("logits"));
    const std::vector<std::int32_t> mask = mask_of(c);
    REQUIRE(found.desc.shape.elements() == static_cast<std::int64_t>(expected.size()));
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (!mask.empty() && mask[i * mask.size() / expected.size()] == 0) continue;
        const double value =
            found.desc.dtype == DType::f64 ? found.as<double>()[i] : static_cast<double>(found.as<float>()[i]);
        worst = std::max(worst, std::abs(value - expected[i]));
    }
    return worst;
}

/// `found`: a file with the gradients under the model's own names.
void check_gradients(const Case& c, const SafetensorsFile& found, const Tolerance& tolerance) {
    double all = 0;
    std::size_t count = 0;
    const std::string prefix = c.of("gradients.");
    for (const SafetensorsEntry& entry : c.expected.tensors()) {
        if (!entry.name.starts_with(prefix)) continue;
        ++count;
        all = std::hypot(all, norm(read_values<float>(c.expected, entry.name)));
    }
    CHECK(found.tensors().size() == count);
    for (const SafetensorsEntry& entry : c.expected.tensors()) {
        if (!entry.name.starts_with(prefix)) continue;
        const std::string name = entry.name.substr(prefix.size());
        INFO("gradient of " << name);
        REQUIRE(found.find(name) != nullptr);
        CHECK(found.find(name)->shape == entry.shape);
        const auto expected = read_values<float>(c.expected, entry.name);
        CHECK(distance(read_values<float>(found, name), expected) <=
              tolerance.gradient * norm(expected) + tolerance.rest * all);
    }
}

void check_case(const Case& c, const std::string& model, Config config, const Tolerance& tolerance) {
    const StoredTensors stored = StoredTensors::open(folder_of(model));
    const CheckpointLayout layout = layout_of(stored, config.model);
    Evaluator evaluator(config, c.options);
    CHECK(load_checkpoint(stored, layout, evaluator.runtime().parameters()).empty());
    evaluator.runtime().refresh();
    const LabelLoss loss =
        evaluator.run(ids_of(c.expected, c.of("ids")), ids_of(c.expected, c.of("labels")), mask_of(c));
    CHECK(std::abs(loss.loss - read_values<double>(c.expected, c.of("loss"))[0]) <= tolerance.loss);
    CHECK(worst_logit(c, evaluator.logits()) <= tolerance.logit);

    const TemporaryFolder folder;
    save_checkpoint(folder.file("gradients.safetensors"), layout, evaluator.gradients(), DType::f32,
                    1.0 / static_cast<double>(loss.valid));
    check_gradients(c, SafetensorsFile(folder.file("gradients.safetensors")), tolerance);
}

void check_all_cases(const std::string& model, const std::string& isa, DType dtype, const Tolerance& tolerance) {
    const SafetensorsFile expected(folder_of(model) + "/expected.safetensors");
    for (const std::int64_t length : {1, 3, 33}) {
        INFO(model << ", T " << length << ", " << isa);
        const Case c{expected, fmt::format("t{}", length), {2, length, true, false, dtype}};
        check_case(c, model, load_run({folder_of(model)}, {"runtime.isa=" + isa}), tolerance);
    }
    INFO(model << ", padded before and after, " << isa);
    const Case padded{expected, "padded", {3, 7, true, true, dtype}};
    check_case(padded, model, load_run({folder_of(model)}, {"runtime.isa=" + isa}), tolerance);
}

}  // namespace

TEST_CASE("logits, loss and every gradient are transformers'") {
    for (const std::string& model : models) {
        for (const std::string& isa : isas()) check_all_cases(model, isa, DType::f32, single);
    }
}

TEST_CASE("in double, the reference kernels and transformers agree") {
    for (const std::string& model : models) {
        // transformers takes the router's softmax in float32 whatever the model's type is.
        if (model.ends_with("_moe")) continue;
        check_all_cases(model, "reference", DType::f64, model == "gpt2" ? wide : rounded_angles);
    }
}

TEST_CASE("ten AdamW steps follow transformers' losses") {
    for (const std::string& model : models) {
        INFO(model);
        const SafetensorsFile expected(folder_of(model) + "/expected.safetensors");
        const auto losses = read_values<double>(expected, "steps.losses");
        const auto shape = expected.find("steps.ids")->shape;  // (steps, B, T)
        const Config config =
            load_run({folder_of(model)},
                     {fmt::format("train.batch_size={}", shape[1]), fmt::format("train.sequence_length={}", shape[2]),
                      "train.max_steps=10", "train.learning_rate=1e-3", "train.lr_schedule=constant",
                      "train.adam_beta2=0.95", "train.weight_decay=0.1"});
        train::Trainer trainer(config,
                               train::on_rows(config, ids_of(expected, "steps.ids"), ids_of(expected, "steps.labels")));
        CHECK(trainer.load_parameters(folder_of(model)).empty());
        for (const double loss : losses) CHECK(std::abs(trainer.step().loss - loss) <= 1e-5);
    }
}
