#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/process.hpp"
#include "io/npy.hpp"
#include "io/safetensors.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;
using nlohmann::json;

namespace {

const std::string hf_gpt2 = CAUSEWAY_TESTS_DIR "/golden/hf_gpt2";

std::string write_ids(const std::string& path, std::vector<std::int64_t> ids, std::int64_t rows) {
    write_npy(path, TensorDesc(DType::i64, {rows, static_cast<std::int64_t>(ids.size()) / rows}), ids.data());
    return path;
}

/// The arguments of a command that trains a little on a built-in task from a model of vocabulary 97.
std::vector<std::string> training_from(const TemporaryFolder& folder, const std::string& start) {
    const std::string config = folder.write("task.json", R"({"data": {"source": "repeat"}, "train": {"batch_size": 2,
        "sequence_length": 8, "max_steps": 20}})");
    return {"train", config, "--init-from", start, "--out", folder.file("tuned"), "--quiet"};
}

std::string content_of_tensor(const SafetensorsFile& file, const std::string& name) {
    const auto bytes = file.view(name).bytes;
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

TEST_CASE("A HuggingFace folder is imported, trained and exported with the same names and shapes") {
    const TemporaryFolder folder;
    const Outcome imported = call({"import", hf_gpt2, "--out", folder.file("run")});
    CHECK(imported.err == "");
    CHECK(imported.code == 0);
    CHECK_THAT(imported.out, contains("gpt2 model of 45,000 parameters, 2 layers, hidden 40, vocabulary 97"));
    CHECK(json::parse(content_of(folder.file("run/generation_config.json"))).at("eos_token_id") == 50256);

    const Outcome trained = call(training_from(folder, folder.file("run")));
    CHECK(trained.err == "");
    REQUIRE(trained.code == 0);
    const Outcome exported = call({"export", folder.file("tuned"), "--out", folder.file("hf")});
    CHECK(exported.err == "");
    REQUIRE(exported.code == 0);

    const SafetensorsFile before(hf_gpt2 + "/model.safetensors"), after(folder.file("hf/model.safetensors"));
    CHECK(after.tensors().size() == before.tensors().size());
    std::size_t changed = 0;
    for (const SafetensorsEntry& entry : before.tensors()) {
        INFO(entry.name);
        REQUIRE(after.find(entry.name) != nullptr);
        CHECK(after.find(entry.name)->shape == entry.shape);
        if (content_of_tensor(before, entry.name) != content_of_tensor(after, entry.name)) ++changed;
    }
    CHECK(changed == before.tensors().size());
    const json config = json::parse(content_of(folder.file("hf/config.json")));
    CHECK(config.at("model_type") == "gpt2");
    CHECK(config.at("architectures") == json({"GPT2LMHeadModel"}));
    CHECK(config.at("n_embd") == 40);
    CHECK(config.at("tie_word_embeddings") == true);
    CHECK(config.at("dtype") == "float32");
}

TEST_CASE("Import and export without training give the same bytes, and bf16 gives half as many") {
    const TemporaryFolder folder;
    folder.write("source/tokenizer.json", "{}");
    for (const char* file : {"config.json", "model.safetensors"}) {
        std::filesystem::copy_file(hf_gpt2 + "/" + file, folder.file(std::string("source/") + file));
    }
    REQUIRE(call({"import", folder.file("source"), "--out", folder.file("run")}).code == 0);
    const Outcome exported = call({"export", folder.file("run"), "--out", folder.file("hf")});
    CHECK_THAT(exported.out, contains("with generation_config.json, tokenizer.json"));
    CHECK(content_of(folder.file("hf/model.safetensors")) == content_of(hf_gpt2 + "/model.safetensors"));
    CHECK(content_of(folder.file("hf/tokenizer.json")) == "{}");

    REQUIRE(call({"export", folder.file("run"), "--out", folder.file("narrow"), "--dtype", "bf16"}).code == 0);
    CHECK(SafetensorsFile(folder.file("narrow/model.safetensors")).find("transformer.wte.weight")->dtype == "BF16");
    CHECK(json::parse(content_of(folder.file("narrow/config.json"))).at("dtype") == "bfloat16");
    CHECK(call({"import", folder.file("narrow"), "--out", folder.file("again")}).code == 0);
}

TEST_CASE("eval prints the mean loss and writes logits and gradients, of a run and of a folder from HuggingFace") {
    const TemporaryFolder folder;
    REQUIRE(call({"import", hf_gpt2, "--out", folder.file("run")}).code == 0);
    const std::string ids = write_ids(folder.file("ids.npy"), {1, 2, 3, 4, 5, 6}, 2);
    const Outcome hf = call({"eval", hf_gpt2, "--ids", ids, "--logits", folder.file("logits.npy"), "--gradients",
                             folder.file("gradients.safetensors")});
    CHECK(hf.err == "");
    REQUIRE(hf.code == 0);
    const std::vector<std::string> lines = lines_of(hf.out);
    REQUIRE(lines.size() == 2);
    CHECK_THAT(lines[0], contains("loss "));
    CHECK(lines[0].size() == std::string("loss 4.123456789").size());
    CHECK(lines[0][6] == '.');
    CHECK(lines[1] == "labels 4");
    CHECK(NpyFile(folder.file("logits.npy")).desc().shape == Shape{2, 3, 97});
    const SafetensorsFile gradients(folder.file("gradients.safetensors")), model(hf_gpt2 + "/model.safetensors");
    CHECK(gradients.tensors().size() == model.tensors().size());
    CHECK(gradients.find("transformer.h.0.attn.c_attn.weight")->shape == std::vector<std::int64_t>{40, 120});

    const Outcome run = call({"eval", folder.file("run"), "--ids", ids, "--gradients", folder.file("own.safetensors")});
    CHECK(run.out == hf.out);
    CHECK(SafetensorsFile(folder.file("own.safetensors")).find("h.0.attn.qkv.weight") != nullptr);
    // Absent labels are the ids shifted left.
    const std::string labels = write_ids(folder.file("labels.npy"), {2, 3, -100, 5, 6, -100}, 2);
    CHECK(call({"eval", hf_gpt2, "--ids", ids, "--labels", labels}).out == hf.out);
    const std::string none = write_ids(folder.file("none.npy"), std::vector<std::int64_t>(6, -100), 2);
    CHECK(call({"eval", hf_gpt2, "--ids", ids, "--labels", none}).out == "loss n/a: no label counts\n");
}

TEST_CASE("B07, B58: eval refuses ids and labels that fit neither model nor each other") {
    const TemporaryFolder folder;
    const std::string ids = write_ids(folder.file("ids.npy"), {1, 2, 3, 4}, 2);
    const auto error = [&](const std::vector<std::string>& more) {
        std::vector<std::string> arguments{"eval", hf_gpt2};
        arguments.insert(arguments.end(), more.begin(), more.end());
        const Outcome outcome = call(arguments);
        CHECK(outcome.code == 1);
        CHECK(outcome.out == "");
        return outcome.err;
    };
    CHECK_THAT(error({"--ids", write_ids(folder.file("a.npy"), {1, 97}, 1)}), contains("97"));
    CHECK_THAT(error({"--ids", write_ids(folder.file("a.npy"), {1, 1ll << 40}, 1)}),
               contains("element 1 is 1099511627776, which is no token id"));
    CHECK_THAT(error({"--ids", ids, "--labels", write_ids(folder.file("b.npy"), {1, 2, 3, -1}, 2)}), contains("-1"));
    CHECK_THAT(error({"--ids", ids, "--labels", write_ids(folder.file("b.npy"), {1, 2}, 1)}),
               contains("holds labels (1, 2), expected (2, 2)"));
    CHECK_THAT(error({"--ids", write_ids(folder.file("c.npy"), std::vector<std::int64_t>(41, 1), 1)}),
               contains("the rows have 41 tokens; the model takes 1 to 40"));
    const float real = 1;
    write_npy(folder.file("d.npy"), TensorDesc(DType::f32, {1, 1}), &real);
    CHECK_THAT(error({"--ids", folder.file("d.npy")}), contains("expected a matrix (B, T) of int64 or int32"));
    CHECK_THAT(error({"--ids", ids, "--mask", write_ids(folder.file("m.npy"), {1, 1}, 1)}),
               contains("holds a mask (1, 2), expected (2, 2)"));
    CHECK_THAT(error({"--ids", ids, "--mask", write_ids(folder.file("m.npy"), {1, 1, 2, 1}, 2)}),
               contains("mask: element 2 is 2, expected 1 (a token) or 0 (padding)"));
}

TEST_CASE("Folders from HuggingFace can be generated from and looked at directly") {
    const Outcome generated =
        call({"generate", hf_gpt2, "--ids", "1,2,3", "--max-new-tokens", "3", "--temperature", "0"});
    CHECK(generated.err == "");
    CHECK(generated.code == 0);
    CHECK(generated.out.starts_with("1 2 3 "));
    CHECK_THAT(call({"generate", hf_gpt2, "--prompt", "abc"}).err,
               contains("--prompt: this model was not trained on the bytes of a text"));
    CHECK(call({"inspect", hf_gpt2, "--ids", "1,2,3"}).code == 0);
    CHECK(call({"plan", hf_gpt2 + "/config.json", "--set", "train.batch_size=1"}).code == 0);
}

TEST_CASE("Conversions that cannot succeed write nothing and say why") {
    const TemporaryFolder folder;
    const auto error = [&](const std::vector<std::string>& arguments) {
        const Outcome outcome = call(arguments);
        CHECK(outcome.code == 1);
        CHECK(outcome.out == "");
        return outcome.err;
    };
    const std::string out = folder.file("out");
    CHECK_THAT(error({"import", folder.file("nowhere"), "--out", out}), contains("there is no such folder"));
    folder.write("bert/config.json", R"({"model_type": "bert"})");
    CHECK_THAT(error({"import", folder.file("bert"), "--out", out}), contains("found the string \"bert\""));
    folder.write("gpt2/config.json", content_of(hf_gpt2 + "/config.json"));
    folder.write("gpt2/pytorch_model.bin", "PK");
    CHECK_THAT(error({"import", folder.file("gpt2"), "--out", out}), contains("looks like a pickle"));
    CHECK_FALSE(std::filesystem::exists(out));

    REQUIRE(call({"import", hf_gpt2, "--out", out}).code == 0);
    CHECK_THAT(error({"import", hf_gpt2, "--out", out}), contains("holds a model already (config.json)"));
    CHECK(call({"import", hf_gpt2, "--out", out, "--overwrite"}).code == 0);
    CHECK_THAT(error({"export", out, "--out", out, "--overwrite"}), contains("is both source and target"));
    const Outcome wrong = call({"export", out, "--out", folder.file("hf"), "--dtype", "f16"});
    CHECK(wrong.code == 2);
}

TEST_CASE("A tensor that the model has no use for is a warning") {
    const TemporaryFolder folder;
    std::filesystem::copy_file(hf_gpt2 + "/config.json", folder.file("config.json"));
    const SafetensorsFile model(hf_gpt2 + "/model.safetensors");
    std::vector<TensorToWrite> tensors;
    for (const SafetensorsEntry& entry : model.tensors()) {
        tensors.push_back({entry.name, model.view(entry.name).desc, model.view(entry.name).bytes.data()});
    }
    const float value = 1;
    for (const char* name : {"extra", "transformer.h.0.attn.bias"}) {
        tensors.push_back({name, TensorDesc(DType::f32, {1}), &value});
    }
    write_safetensors(folder.file("model.safetensors"), tensors);
    const Outcome outcome = call({"import", folder.path().string(), "--out", folder.file("run")});
    CHECK(outcome.code == 0);
    CHECK_THAT(outcome.err, contains("causeway import: warning: "));
    CHECK_THAT(outcome.err, contains(" has tensors that the model has no use for (1): extra\n"));
}
