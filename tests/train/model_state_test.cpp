#include <cmath>
#include <filesystem>
#include <set>

#include "exec/model_runtime.hpp"
#include "io/run_folder.hpp"
#include "io/safetensors.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "train/train_support.hpp"

using namespace causeway;
using namespace causeway::train;

namespace {

std::set<std::string> names_of(const std::vector<NamedTensor>& tensors) {
    std::set<std::string> names;
    for (const NamedTensor& tensor : tensors) names.insert(tensor.name);
    return names;
}

/// Inputs and targets that nobody depends on: every position counts.
TrainerOptions any_rows(const Config& config, DType dtype = DType::f32) {
    const auto size = static_cast<std::size_t>(config.train.batch_size * config.train.sequence_length);
    std::vector<std::int32_t> ids(size + 1);
    for (std::size_t i = 0; i <= size; ++i) ids[i] = static_cast<std::int32_t>(i * i % 29);
    return on_rows(config, {ids.begin(), ids.end() - 1}, {ids.begin() + 1, ids.end()}, dtype);
}

}  // namespace

TEST_CASE("B35: a tied embedding is one tensor with one gradient and one pair of moments") {
    const Config tied = small_gpt2(), untied = small_gpt2({"model.tie_word_embeddings=false"});
    Trainer one(tied, any_rows(tied, DType::f64)), two(untied, any_rows(untied, DType::f64));
    CHECK(names_of(two.parameters()).contains("lm_head.weight"));
    CHECK(!names_of(one.parameters()).contains("lm_head.weight"));
    CHECK(two.parameter_count() - one.parameter_count() == 29 * 24);
    CHECK(one.moments().size() == 2 * one.parameters().size());

    // The untied model with the same weights: the tied gradient is the sum of lookup's and head's.
    for (const NamedTensor& from : one.parameters()) {
        const NamedTensor to = find(two.parameters(), from.name);
        std::copy_n(from.view.as<double>(), from.view.desc.stored_elements, to.view.as<double>());
        if (from.name != "wte.weight") continue;
        const NamedTensor head = find(two.parameters(), "lm_head.weight");
        std::copy_n(from.view.as<double>(), from.view.desc.stored_elements, head.view.as<double>());
    }
    two.refresh();
    const StepReport a = one.step(), b = two.step();
    CHECK(a.loss == Approx(b.loss).epsilon(1e-13));
    const std::vector<double> sum = values_of({find(one.gradients(), "wte.weight.grad")});
    const std::vector<double> lookup = values_of({find(two.gradients(), "wte.weight.grad")});
    const std::vector<double> head = values_of({find(two.gradients(), "lm_head.weight.grad")});
    double squares = 0, worst = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) worst = std::max(worst, std::abs(sum[i] - lookup[i] - head[i]));
    for (double value : values_of(one.gradients())) squares += value * value;
    CHECK(worst < 1e-12);
    CHECK(a.grad_norm == Approx(std::sqrt(squares) / static_cast<double>(a.valid_tokens)).epsilon(1e-12));
}

TEST_CASE("B35: it is still tied after a reload") {
    const TemporaryFolder folder;
    Trainer trainer(small_gpt2());
    trainer.step();
    trainer.save(folder.path().string());
    const SafetensorsFile file(folder.file("model.safetensors"));
    CHECK(file.find("wte.weight") != nullptr);
    CHECK(file.find("lm_head.weight") == nullptr);
    CHECK(file.tensors().size() == trainer.parameters().size());
}

TEST_CASE("B36: with a gradient of zero, one step decays matrices and embeddings by 1e-4 and nothing else") {
    const Config config =
        small_gpt2({"train.learning_rate=1e-3", "train.weight_decay=0.1", "train.lr_schedule=constant",
                    "train.warmup_steps=0", "model.tie_word_embeddings=false", "model.lm_head_bias=true"});
    Trainer trainer(config, any_rows(config));
    for (const NamedTensor& tensor : trainer.parameters()) {
        for (std::int64_t i = 0; i < tensor.view.desc.stored_elements; ++i) tensor.view.as<float>()[i] = 0.5f;
    }
    for (const NamedTensor& tensor : trainer.gradients()) {
        std::fill_n(tensor.view.as<float>(), tensor.view.desc.stored_elements, 0.0f);
    }
    RunArgs args;
    args.learning_rate = 1e-3;
    trainer.runtime().executor("train").run(Phase::update, args);
    int decayed = 0, kept = 0;
    for (const NamedTensor& tensor : trainer.parameters()) {
        INFO(tensor.name);
        const bool matrix = tensor.view.desc.shape.rank() == 2;
        (matrix ? decayed : kept)++;
        const float expected = matrix ? 0.5f * 0.9999f : 0.5f;
        for (std::int64_t i = 0; i < tensor.view.desc.stored_elements; ++i) {
            REQUIRE(tensor.view.as<float>()[i] == Approx(expected).epsilon(matrix ? 1e-7 : 0));
        }
    }
    CHECK(decayed == 11);  // wte, wpe, lm_head and four a block
    CHECK(kept == 19);     // eight a block, ln_f's two and the head's bias
}

TEST_CASE("B37: AdamW's first step") {
    for (const auto& [gradient, expected] : {std::pair{0.5, 0.9989}, std::pair{1e-8, 0.9994}}) {
        const Config config = small_gpt2({"train.weight_decay=0.1", "train.max_grad_norm=0"});
        for (DType dtype : {DType::f32, DType::f64}) {
            Trainer trainer(config, any_rows(config, dtype));
            const auto set = [dtype](const NamedTensor& tensor, double value) {
                for (std::int64_t i = 0; i < tensor.view.desc.stored_elements; ++i) {
                    if (dtype == DType::f64) {
                        tensor.view.as<double>()[i] = value;
                    } else {
                        tensor.view.as<float>()[i] = static_cast<float>(value);
                    }
                }
            };
            for (const NamedTensor& tensor : trainer.parameters()) set(tensor, 1);
            for (const NamedTensor& tensor : trainer.gradients()) set(tensor, gradient);
            RunArgs args;
            args.learning_rate = 1e-3;
            trainer.runtime().executor("train").run(Phase::update, args);
            for (double value : values_of({find(trainer.parameters(), "h.0.mlp.fc.weight")})) {
                REQUIRE(value == Approx(expected).epsilon(1e-6));
            }
        }
    }
}

TEST_CASE("B20: with zero weights the mean loss is log V, over any number of tokens") {
    for (const auto& [vocab, expected] :
         {std::pair{2, 0.693147}, std::pair{256, 5.545177}, std::pair{50257, 10.824905}}) {
        const std::string v = std::to_string(vocab);
        const Config config =
            small_gpt2({"model.vocab_size=" + v, "data.source=repeat", "data.lookback=3", "train.batch_size=8"});
        Trainer trainer(config);
        for (const NamedTensor& tensor : trainer.parameters()) {
            std::fill_n(tensor.view.as<float>(), tensor.view.desc.stored_elements, 0.0f);
        }
        trainer.refresh();
        const Evaluation evaluation = trainer.evaluate();
        CHECK(evaluation.valid_tokens == 256 * 13);
        CHECK(evaluation.loss == Approx(expected).margin(1e-6));
        CHECK(trainer.step().loss == Approx(expected).margin(1e-6));
    }
}

TEST_CASE("B39: a model that overfits 0, 1, 2, ... predicts the next token") {
    std::string text;
    for (int i = 0; i < 4096; ++i) text.push_back(static_cast<char>(i % 64));
    const TemporaryFolder folder;
    const std::string path = folder.write("counting.txt", text);
    const Config config = parse_config(R"({
        "model": {"vocab_size": 256, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
                  "max_position_embeddings": 16},
        "train": {"batch_size": 8, "max_steps": 150, "learning_rate": 0.01, "lr_schedule": "constant"}})",
                                       "counting", {"data.path=" + path});
    Trainer trainer(config);
    const RunResult result = trainer.run();
    CHECK(result.last_step.loss < 0.05);
    CHECK(result.validation.value().loss < 0.05);
    CHECK(!result.validation.value().accuracy);
}

TEST_CASE("a saved run loads again: the same config, the same bits, the same loss") {
    const TemporaryFolder folder;
    const RunFolder run{folder.file("deep/run")};
    const Config config = small_gpt2({"train.max_steps=5"});
    Trainer trainer(config);
    trainer.run();
    trainer.save(run.folder);
    trainer.save(run.folder);  // over an older one
    CHECK(load_run(run) == config);
    Trainer other(load_run(run));
    CHECK(other.load_parameters(run.parameters()).empty());
    CHECK(values_of(other.parameters()) == values_of(trainer.parameters()));
    CHECK(other.evaluate().loss == trainer.evaluate().loss);
    int files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(run.folder)) ++files;
    CHECK(files == 2);
}

TEST_CASE("B52: what does not fit the model is one report, and nothing is loaded") {
    const TemporaryFolder folder;
    Trainer trainer(small_gpt2());
    trainer.save(folder.path().string());
    Trainer other(small_gpt2({"model.num_hidden_layers=3", "model.hidden_size=27", "model.tie_word_embeddings=false"}));
    const std::vector<double> before = values_of(other.parameters());
    const std::string path = folder.file("model.safetensors");
    CHECK_THROWS_MESSAGE(other.load_parameters(path), IoError, "\n  lm_head.weight        missing      (29, 27)");
    CHECK_THROWS_MESSAGE(other.load_parameters(path), IoError, "\n  wte.weight            (29, 24)     (29, 27)");
    CHECK_THROWS_MESSAGE(other.load_parameters(path), IoError, "\n  h.2.ln_1.bias         missing      (27)");
    CHECK_THROWS_MESSAGE(other.load_parameters(path), IoError, "41 of 41 tensors");
    CHECK(values_of(other.parameters()) == before);

    Trainer fewer(small_gpt2({"model.num_hidden_layers=1"}));
    const std::vector<std::string> unused = fewer.load_parameters(path);
    CHECK(unused.size() == 12);
    CHECK(unused.front().starts_with("h.1."));
}

TEST_CASE("B21, B52: a file with a weight that is not finite is refused by name and element, and nothing is loaded") {
    const TemporaryFolder folder;
    Trainer trainer(small_gpt2());
    std::vector<NamedTensor> parameters = trainer.parameters();
    float& weight = parameters[2].view.as<float>()[5];
    const float before = weight;
    weight = NAN;
    trainer.save(folder.path().string());
    weight = before;
    const std::vector<double> values = values_of(trainer.parameters());
    CHECK_THROWS_MESSAGE(trainer.load_parameters(folder.file("model.safetensors")), NumericError,
                         "element 5 of '" + parameters[2].name + "' is nan, expected a finite number");
    CHECK(values_of(trainer.parameters()) == values);
}

TEST_CASE("a folder that is no run says what is missing") {
    const TemporaryFolder folder;
    CHECK_THROWS_MESSAGE(load_run({folder.file("nowhere")}), IoError, "there is no such folder");
    CHECK_THROWS_MESSAGE(load_run({folder.path().string()}), IoError, "it has no config.json");
    CHECK_THROWS_MESSAGE(Trainer(small_gpt2()).load_parameters(folder.file("model.safetensors")), IoError,
                         "model.safetensors");
}

TEST_CASE("initial values depend on the seed alone, and are those the config names") {
    Trainer one(small_gpt2({"runtime.threads=1"})), eight(small_gpt2({"runtime.threads=8"}));
    CHECK(values_of(one.parameters()) == values_of(eight.parameters()));
    const auto deviation = [&](const std::string& name) {
        const std::vector<double> values = values_of({find(one.parameters(), name)});
        double sum = 0;
        for (double value : values) sum += value * value;
        return std::sqrt(sum / static_cast<double>(values.size()));
    };
    CHECK(deviation("wte.weight") == Approx(0.02).epsilon(0.1));
    CHECK(deviation("h.0.mlp.fc.weight") == Approx(0.02).epsilon(0.1));
    CHECK(deviation("h.1.mlp.proj.weight") == Approx(0.01).epsilon(0.1));  // 0.02 / sqrt(2 * 2 layers)
    CHECK(deviation("h.0.attn.qkv.bias") == 0);
    CHECK(deviation("ln_f.weight") == 1);
}
