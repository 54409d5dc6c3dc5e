#include "infer/data_evaluation.hpp"

#include <cmath>
#include <filesystem>
#include <limits>

#include "causeway/error.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "train/trainer.hpp"

using namespace causeway;

namespace {

std::string config_json(const std::string& data, bool tied = true) {
    return std::string(R"({"model": {"tie_word_embeddings": )") + (tied ? "true" : "false") +
           R"(, "vocab_size": 300, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
               "max_position_embeddings": 8}, "train": {"batch_size": 3, "learning_rate": 0.01, "max_steps": 5},
               "data": {)" +
           data + "}}";
}

/// The parameters of a trainer after its steps.
void copy_parameters(train::Trainer& from, DataEvaluation& to) {
    const auto source = from.parameters(), target = to.runtime().parameters();
    REQUIRE(source.size() == target.size());
    for (std::size_t i = 0; i < source.size(); ++i) {
        std::copy_n(source[i].view.as<const float>(), source[i].view.desc.stored_elements, target[i].view.as<float>());
    }
    to.runtime().refresh();
}

}  // namespace

TEST_CASE("evaluation over data is the trainer's validation, with perplexity and bits per byte") {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 60; ++i) text += "some words to learn, ";
    const Config config = parse_config(config_json("\"path\": \"" + folder.write("a.txt", text) + "\""), "test");
    train::Trainer trainer(config);
    trainer.run();
    DataEvaluation evaluation(config);
    CHECK_THAT(evaluation.description(), contains("a.txt, 1134 tokens to train on, 126 to validate on"));
    copy_parameters(trainer, evaluation);
    const train::Evaluation expected = trainer.evaluate();
    const DataLoss loss = *evaluation.run();
    CHECK(loss.loss == expected.loss);
    CHECK(loss.targets == expected.valid_tokens);
    CHECK(loss.bytes == loss.targets);
    CHECK(loss.perplexity() == Approx(std::exp(expected.loss)));
    CHECK(*loss.bits_per_byte == Approx(expected.loss / std::log(2.0)));
    CHECK_FALSE(loss.accuracy);

    std::int64_t batches = 0;
    CHECK_FALSE(evaluation.run([&](std::int64_t done, std::int64_t all) {
        CHECK(all == 5);  // 15 windows of 8 in 126 tokens
        batches = done;
        return done < 2;
    }));
    CHECK(batches == 2);
}

TEST_CASE("B20: a model that knows nothing has the loss of its vocabulary") {
    const TemporaryFolder folder;
    const Config config =
        parse_config(config_json("\"path\": \"" + folder.write("a.txt", std::string(400, 'x')) + "\""), "test");
    DataEvaluation evaluation(config);  // all parameters are zero
    evaluation.runtime().refresh();
    const DataLoss loss = *evaluation.run();
    CHECK(loss.loss == Approx(std::log(300.0)).epsilon(1e-6));
    CHECK(loss.perplexity() == Approx(300).epsilon(1e-5));
    CHECK(*loss.bits_per_byte == Approx(std::log2(300.0)).epsilon(1e-6));
}

TEST_CASE("a task is evaluated with its accuracy and has no bytes") {
    const Config config = parse_config(config_json("\"source\": \"repeat\""), "test");
    train::Trainer trainer(config);
    trainer.run();
    DataEvaluation evaluation(config);
    copy_parameters(trainer, evaluation);
    const DataLoss loss = *evaluation.run();
    const train::Evaluation expected = trainer.evaluate();
    CHECK(loss.loss == expected.loss);
    CHECK(loss.accuracy == expected.accuracy);
    CHECK_FALSE(loss.bytes);
    CHECK_FALSE(loss.bits_per_byte);
}

TEST_CASE("B06: data without a target that counts have no loss") {
    const TemporaryFolder folder;
    const std::string line = R"({"messages": [{"role": "user", "content": "q"}]})";
    Config config = parse_config(config_json("\"source\": \"chat\", \"packing\": false, \"validation_path\": \"" +
                                             folder.write("a.jsonl", line + "\n" + line) + "\""),
                                 "test");
    DataEvaluation evaluation(config);
    evaluation.runtime().refresh();
    const DataLoss loss = *evaluation.run();
    CHECK(loss.targets == 0);
    CHECK(loss.loss == 0);
    CHECK_FALSE(loss.bits_per_byte);
}

TEST_CASE("B21 a loss that is not finite ends the evaluation at its batch, naming row, op and parameter") {
    const TemporaryFolder folder;
    // Only the second batch reads the poisoned row: windows of 8, three a batch.
    const std::string text = std::string(24, 'x') + "y" + std::string(71, 'x');
    const Config config =
        parse_config(config_json("\"validation_path\": \"" + folder.write("a.txt", text) + "\"", false), "test");
    DataEvaluation evaluation(config);
    for (const NamedTensor& tensor : evaluation.runtime().parameters()) {
        if (tensor.name == "wte.weight") {
            tensor.view.as<float>()[std::size_t{'y'} * 16] = std::numeric_limits<float>::quiet_NaN();
        }
    }
    evaluation.runtime().refresh();
    std::int64_t batches = 0;
    const auto count = [&](std::int64_t done, std::int64_t) {
        batches = done;
        return true;
    };
    CHECK_THROWS_MESSAGE(evaluation.run(count), NumericError, "the loss is nan from row 3 on: ");
    CHECK_THROWS_MESSAGE(evaluation.run(count), NumericError, "parameter 'wte.weight' is nan");
    CHECK(batches == 1);
}

TEST_CASE("a file that becomes shorter under an evaluation is an error") {
    const TemporaryFolder folder;
    const std::string path = folder.write("a.txt", std::string(400, 'x'));
    DataEvaluation evaluation(parse_config(config_json("\"path\": \"" + path + "\""), "test"));
    evaluation.runtime().refresh();
    std::filesystem::resize_file(path, 50);
    CHECK_THROWS_MESSAGE(evaluation.run(), IoError, "a.txt");
}

TEST_CASE("other data take the place of the config's own") {
    Config config = parse_config(config_json(R"("source": "jsonl", "path": "a.jsonl", "packing": false,
        "document_separator": "\n", "tokenizer": "t.json")"),
                                 "test");
    const Config other = evaluation_config(config, "b.txt", DataSource::text);
    CHECK(other.data.path.empty());
    CHECK(other.data.validation_path == "b.txt");
    CHECK(other.data.tokenizer == "t.json");
    CHECK(other.data.document_separator == "\n");
    CHECK(other.data.packing);
    CHECK(other.data.validation_stride == 8);
    CHECK_FALSE(evaluation_config(config, "b.jsonl", DataSource::chat).data.packing);
    CHECK(evaluation_config(config, "b.bin", DataSource::tokens).data.document_separator.empty());
    CHECK(evaluation_config(config, "", DataSource::repeat).data.tokenizer.empty());
    CHECK(evaluation_config(config, "", DataSource::repeat).data.is_task());
}
