#include "io/checkpoint/stored_tensors.hpp"

#include <cstring>
#include <filesystem>

#include "causeway/error.hpp"
#include "io/checkpoint/llmc_checkpoint.hpp"
#include "io/safetensors.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;

namespace {

void write_shard(const std::string& path, const std::vector<std::string>& names) {
    static const float value = 1.5f;
    std::vector<TensorToWrite> tensors;
    for (const std::string& name : names) tensors.push_back({name, TensorDesc(DType::f32, {1}), &value});
    write_safetensors(path, tensors);
}

std::string index_of(const std::string& map) {
    return R"({"metadata": {"total_size": 8}, "weight_map": {)" + map + "}}";
}

/// A folder of two shards with an index of this content.
void fill(const TemporaryFolder& folder, const std::string& index) {
    write_shard(folder.file("one.safetensors"), {"a", "b"});
    write_shard(folder.file("two.safetensors"), {"c"});
    folder.write("model.safetensors.index.json", index);
}

const std::string sound = R"("a": "one.safetensors", "b": "one.safetensors", "c": "two.safetensors")";

/// A checkpoint of llm.c of width 2, 1 layer, 1 head, context 3, vocabulary 5 padded to 8.
std::string llmc_file(std::int32_t version, std::size_t missing = 0) {
    std::int32_t header[256] = {20240326, version, 3, 5, 1, 1, 2, 8};
    const std::size_t count = 8 * 2 + 3 * 2 + 2 * 2 + 12 + 6 + 4 + 2 + 2 * 2 + 16 + 8 + 16 + 2 + 2 * 2;
    std::string file(reinterpret_cast<const char*>(header), sizeof header);
    for (std::size_t i = 0; i + missing < count; ++i) {
        const float value = static_cast<float>(i);
        char bytes[4];
        std::memcpy(bytes, &value, 4);
        file.append(version == 3 ? std::string(bytes, 4) : std::string(bytes + 2, 2));
    }
    return file;
}

}  // namespace

TEST_CASE("B49: a folder in shards is one set of tensors") {
    const TemporaryFolder folder;
    fill(folder, index_of(sound));
    const StoredTensors tensors = StoredTensors::open(folder.path().string());
    CHECK(tensors.all().size() == 3);
    REQUIRE(tensors.find("c") != nullptr);
    float value = 0;
    std::memcpy(&value, tensors.find("c")->bytes.data(), sizeof value);
    CHECK(value == 1.5f);
    CHECK(tensors.find("d") == nullptr);
}

TEST_CASE("B49: an index cannot lead out of its folder") {
    const TemporaryFolder folder;
    const auto open = [&](const std::string& map) {
        fill(folder, index_of(map));
        StoredTensors::open(folder.path().string());
    };
    for (const std::string place : {"../x", "/etc/passwd", "sub/one.safetensors", "..", ""}) {
        INFO(place);
        CHECK_THROWS_MESSAGE(open("\"a\": \"" + place + "\""), IoError,
                             "expected the name of a file in the same folder");
    }
    const TemporaryFolder elsewhere;
    write_shard(elsewhere.file("far.safetensors"), {"d"});
    std::filesystem::create_symlink(elsewhere.file("far.safetensors"), folder.file("far.safetensors"));
    CHECK_THROWS_MESSAGE(open(R"("d": "far.safetensors")"), IoError, "far.safetensors: is a link out of the folder");
    std::filesystem::create_symlink("one.safetensors", folder.file("near.safetensors"));
    open(R"("a": "near.safetensors", "b": "near.safetensors")");
}

TEST_CASE("B49: what an index promises and a folder lacks is named") {
    const TemporaryFolder folder;
    const auto open = [&](const std::string& index) {
        fill(folder, index);
        StoredTensors::open(folder.path().string());
    };
    CHECK_THROWS_MESSAGE(open(index_of(sound + R"(, "d": "three.safetensors", "e": "three.safetensors")")), IoError,
                         "three.safetensors: there is no such file, with 2 tensors in it: d, e");
    CHECK_THROWS_MESSAGE(open(index_of(R"("a": "one.safetensors", "z": "one.safetensors")")), IoError,
                         "one.safetensors: has no tensor 'z', which model.safetensors.index.json says it holds");
    CHECK_THROWS_MESSAGE(open(index_of(R"("a": "one.safetensors")")), IoError,
                         "one.safetensors: holds 2 tensors, model.safetensors.index.json names 1");
    CHECK_THROWS_MESSAGE(open("[]"), IoError, "has no object \"weight_map\"");
    CHECK_THROWS_MESSAGE(open(R"({"weight_map": {"a": 3}})"), IoError, "'a' is not mapped to a file name");
    CHECK_THROWS_MESSAGE(open("{"), ConfigError, "model.safetensors.index.json:1:");
    CHECK_THROWS_MESSAGE(open(R"({"weight_map": {"a": "one.safetensors", "a": "two.safetensors"}})"), ConfigError,
                         "twice");
}

TEST_CASE("a folder without weights says so, and pickles are never opened") {
    const TemporaryFolder folder;
    CHECK_THROWS_MESSAGE(StoredTensors::open(folder.path().string()), IoError,
                         "model.safetensors: there is no such file, nor a model.safetensors.index.json");
    folder.write("pytorch_model.bin", "PK\x03\x04");
    CHECK_THROWS_MESSAGE(StoredTensors::open(folder.path().string()), IoError,
                         "pytorch_model.bin looks like a pickle, which can run code when it is read");
    const std::string pickle = folder.write("ckpt.pt", "PK\x03\x04 and more than eight bytes");
    CHECK_THROWS_MESSAGE(StoredTensors::open(pickle), IoError, "looks like a PyTorch or zip archive");
}

TEST_CASE("llm.c's checkpoints are read in float32 and bfloat16, without the padded rows") {
    const TemporaryFolder folder;
    for (const std::int32_t version : {3, 5}) {
        const std::string path = folder.write("gpt2.bin", llmc_file(version));
        CHECK(is_llmc_checkpoint(path));
        const LlmcCheckpoint checkpoint(path);
        const ModelConfig& model = checkpoint.config().model;
        CHECK(model.model_type == "gpt2");
        CHECK(model.vocab_size == 5);
        CHECK(model.max_position_embeddings == 3);
        CHECK(model.hidden_act == Activation::gelu_new);
        CHECK(model.attention_dropout == 0);
        const StoredTensors& tensors = checkpoint.tensors();
        CHECK(tensors.all().size() == 16);
        CHECK(tensors.find("wte.weight")->shape == std::vector<std::int64_t>{5, 2});
        const StoredTensor& wpe = *tensors.find("wpe.weight");
        CHECK(wpe.dtype == (version == 3 ? "F32" : "BF16"));
        // The first element of wpe is the 16th number of the file: 8 rows of 2 come before it.
        float first = 0;
        std::memcpy(reinterpret_cast<char*>(&first) + (version == 3 ? 0 : 2), wpe.bytes.data(), version == 3 ? 4 : 2);
        CHECK(first == 16.0f);
        CHECK(tensors.find("h.0.mlp.proj.weight")->shape == std::vector<std::int64_t>{2, 8});
    }
}

TEST_CASE("llm.c's checkpoints that make no sense are refused") {
    const TemporaryFolder folder;
    const auto open = [&](const std::string& content) { LlmcCheckpoint(folder.write("gpt2.bin", content)); };
    const auto changed = [](std::size_t number, std::int32_t value) {
        std::string file = llmc_file(3);
        std::memcpy(file.data() + 4 * number, &value, 4);
        return file;
    };
    CHECK_THROWS_MESSAGE(open(llmc_file(3, 1)), IoError, "gpt2.bin: ends inside 'ln_f.bias'");
    CHECK_THROWS_MESSAGE(open(llmc_file(3) + "x"), IoError, "its header says");
    CHECK_THROWS_MESSAGE(open(llmc_file(3).substr(0, 100)), IoError, "is shorter than the header");
    CHECK_THROWS_MESSAGE(open(changed(1, 2)), IoError, "version 2 of llm.c's checkpoints is not known");
    CHECK_THROWS_MESSAGE(open(changed(4, 0)), IoError, "its header holds a size of 0");
    CHECK_THROWS_MESSAGE(open(changed(7, 4)), IoError, "padded vocabulary (4) is smaller");
    CHECK_THROWS_MESSAGE(open(changed(5, 3)), ConfigError, "model.num_attention_heads: found 3");
    CHECK_THROWS_MESSAGE(open(changed(0, 7)), IoError, "is no llm.c checkpoint");
    CHECK_FALSE(is_llmc_checkpoint(folder.write("other.bin", "text")));
    CHECK_FALSE(is_llmc_checkpoint(folder.file("nowhere.bin")));
}
