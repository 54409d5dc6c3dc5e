#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <numeric>

#include "causeway/error.hpp"
#include "io/checkpoint/load.hpp"
#include "io/checkpoint/save.hpp"
#include "io/safetensors.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;

namespace {

/// Parameters in memory with values that tell every element from every other.
class Parameters {
  public:
    explicit Parameters(const std::vector<std::pair<std::string, Shape>>& shapes) {
        float next = 1;
        for (const auto& [name, shape] : shapes) {
            std::vector<float>& values = values_[name];
            values.resize(static_cast<std::size_t>(shape.elements()));
            std::iota(values.begin(), values.end(), next);
            next += static_cast<float>(values.size());
            tensors_.push_back({name, {values.data(), TensorDesc(DType::f32, shape)}});
        }
    }
    Parameters(const Parameters&) = delete;
    Parameters& operator=(const Parameters&) = delete;

    std::span<const NamedTensor> tensors() const { return tensors_; }
    const std::vector<float>& operator[](const std::string& name) const { return values_.at(name); }
    void clear() {
        for (auto& [name, values] : values_) std::fill(values.begin(), values.end(), 0.0f);
    }
    const std::map<std::string, std::vector<float>>& all() const { return values_; }

  private:
    std::map<std::string, std::vector<float>> values_;
    std::vector<NamedTensor> tensors_;
};

ModelConfig gpt2_model() {
    ModelConfig model;
    model.model_type = "gpt2";
    return model;
}

/// A GPT-2 block of width 2 with the other parameters around it.
Parameters gpt2_parameters() {
    return Parameters({{"wte.weight", {5, 2}},
                       {"wpe.weight", {3, 2}},
                       {"h.0.ln_1.weight", {2}},
                       {"h.0.attn.qkv.weight", {6, 2}},
                       {"h.0.attn.qkv.bias", {6}},
                       {"h.0.attn.proj.weight", {2, 2}},
                       {"h.0.mlp.fc.weight", {8, 2}},
                       {"h.0.mlp.proj.weight", {2, 8}},
                       {"ln_f.weight", {2}}});
}

ModelConfig llama_model(bool tied = false) {
    ModelConfig model;
    model.model_type = "llama";
    model.position_embedding = PositionKind::rope;
    model.num_attention_heads = 2;
    model.num_key_value_heads = 1;
    model.head_dim = 2;
    model.tie_word_embeddings = tied;
    return model;
}

std::vector<float> stored(const std::string& path, const std::string& name) {
    const SafetensorsFile file(path);
    std::vector<float> values(static_cast<std::size_t>(file.view(name).desc.stored_elements));
    file.read(name, std::span(values));
    return values;
}

/// Writes tensors of shape (n) under these names, one value each.
std::string write_vectors(const std::string& path, const std::map<std::string, std::vector<float>>& tensors) {
    std::vector<TensorToWrite> out;
    for (const auto& [name, values] : tensors) {
        out.push_back({name, TensorDesc(DType::f32, {static_cast<std::int64_t>(values.size())}), values.data()});
    }
    write_safetensors(path, out);
    return path;
}

std::vector<std::string> load(const std::string& path, const CheckpointLayout& layout, const Parameters& parameters) {
    return load_checkpoint(StoredTensors::open(path), layout, parameters.tensors());
}

}  // namespace

TEST_CASE("B52: GPT-2's Conv1D weights are written (in, out) and come back, square ones too") {
    const TemporaryFolder folder;
    const Parameters parameters = gpt2_parameters();
    const std::map<std::string, std::vector<float>> before = parameters.all();
    const std::string path = folder.file("model.safetensors");
    save_checkpoint(path, gpt2_layout(gpt2_model(), "transformer.", true), parameters.tensors());

    const SafetensorsFile file(path);
    CHECK(file.find("transformer.h.0.attn.c_attn.weight")->shape == std::vector<std::int64_t>{2, 6});
    CHECK(file.find("transformer.h.0.mlp.c_proj.weight")->shape == std::vector<std::int64_t>{8, 2});
    const std::vector<float>& square = parameters["h.0.attn.proj.weight"];
    CHECK(stored(path, "transformer.h.0.attn.c_proj.weight") ==
          std::vector<float>{square[0], square[2], square[1], square[3]});

    Parameters read = gpt2_parameters();
    read.clear();
    CHECK(load_parameters(path, gpt2_model(), read.tensors()).empty());
    CHECK(read.all() == before);
}

TEST_CASE("nanoGPT's weights (out, in) under the same names are told apart by the shape of qkv") {
    const TemporaryFolder folder;
    const Parameters parameters = gpt2_parameters();
    for (const bool transposed : {false, true}) {
        for (const std::string prefix : {"transformer.", ""}) {
            const std::string path = folder.file("a.safetensors");
            save_checkpoint(path, gpt2_layout(gpt2_model(), prefix, transposed), parameters.tensors());
            Parameters read = gpt2_parameters();
            read.clear();
            CHECK(load_parameters(path, gpt2_model(), read.tensors()).empty());
            CHECK(read.all() == parameters.all());
        }
    }
}

TEST_CASE("Llama's projections are rows of the fused ones, experts slices of one tensor") {
    const TemporaryFolder folder;
    const std::vector<std::pair<std::string, Shape>> shapes{{"wte.weight", {5, 3}},
                                                            {"h.0.ln_1.weight", {3}},
                                                            {"h.0.attn.qkv.weight", {8, 3}},
                                                            {"h.0.attn.qkv.bias", {8}},
                                                            {"h.0.attn.q_norm.weight", {2}},
                                                            {"h.0.attn.k_norm.weight", {2}},
                                                            {"h.0.attn.proj.weight", {3, 4}},
                                                            {"h.0.ln_2.weight", {3}},
                                                            {"h.0.mlp.gate_up.weight", {4, 3}},
                                                            {"h.0.mlp.proj.weight", {3, 2}},
                                                            {"h.1.mlp.router.weight", {2, 3}},
                                                            {"h.1.mlp.experts.gate_up.weight", {2, 4, 3}},
                                                            {"h.1.mlp.experts.down.weight", {2, 3, 2}},
                                                            {"ln_f.weight", {3}},
                                                            {"lm_head.weight", {5, 3}}};
    const Parameters parameters(shapes);
    const std::string path = folder.file("model.safetensors");
    save_checkpoint(path, llama_layout(llama_model(), "model."), parameters.tensors());

    const auto rows = [&](const std::string& name, std::ptrdiff_t first, std::ptrdiff_t last) {
        const std::vector<float>& values = parameters[name];
        return std::vector<float>(values.begin() + first, values.begin() + last);
    };
    const std::string layer = "model.layers.0.";
    CHECK(stored(path, layer + "self_attn.q_proj.weight") == rows("h.0.attn.qkv.weight", 0, 12));
    CHECK(stored(path, layer + "self_attn.k_proj.weight") == rows("h.0.attn.qkv.weight", 12, 18));
    CHECK(stored(path, layer + "self_attn.v_proj.weight") == rows("h.0.attn.qkv.weight", 18, 24));
    CHECK(stored(path, layer + "self_attn.v_proj.bias") == rows("h.0.attn.qkv.bias", 6, 8));
    CHECK(stored(path, layer + "mlp.up_proj.weight") == rows("h.0.mlp.gate_up.weight", 6, 12));
    CHECK(stored(path, layer + "mlp.down_proj.weight") == parameters["h.0.mlp.proj.weight"]);
    CHECK(stored(path, "model.layers.1.mlp.gate.weight") == parameters["h.1.mlp.router.weight"]);
    CHECK(stored(path, "model.layers.1.mlp.experts.1.gate_proj.weight") ==
          rows("h.1.mlp.experts.gate_up.weight", 12, 18));
    CHECK(stored(path, "model.layers.1.mlp.experts.1.down_proj.weight") == rows("h.1.mlp.experts.down.weight", 6, 12));
    CHECK(SafetensorsFile(path).find("model.layers.1.mlp.experts.0.down_proj.weight")->shape ==
          std::vector<std::int64_t>{3, 2});

    Parameters read(shapes);
    read.clear();
    CHECK(load_parameters(path, llama_model(), read.tensors()).empty());
    CHECK(read.all() == parameters.all());
}

TEST_CASE("B50: a tied embedding loads from either name, and from both when they are the same") {
    const TemporaryFolder folder;
    const CheckpointLayout layout = llama_layout(llama_model(true), "model.");
    const std::vector<float> values{1, 2, 3};
    const auto loaded = [&](const std::map<std::string, std::vector<float>>& tensors) {
        Parameters parameters({{"wte.weight", {3}}});
        parameters.clear();
        const auto unused = load(write_vectors(folder.file("a.safetensors"), tensors), layout, parameters);
        CHECK(unused.empty());
        return parameters["wte.weight"];
    };
    CHECK(loaded({{"model.embed_tokens.weight", values}}) == values);
    CHECK(loaded({{"lm_head.weight", values}}) == values);
    CHECK(loaded({{"model.embed_tokens.weight", values}, {"lm_head.weight", values}}) == values);
    CHECK_THROWS_MESSAGE(loaded({{"model.embed_tokens.weight", values}, {"lm_head.weight", {1, 2, 4}}}), IoError,
                         "'model.embed_tokens.weight' and 'lm_head.weight' differ");
}

TEST_CASE("B52: one table of what is missing, misshapen and not expected") {
    const TemporaryFolder folder;
    const CheckpointLayout layout = llama_layout(llama_model(), "model.");
    const std::string path =
        write_vectors(folder.file("a.safetensors"), {{"model.embed_tokens.weight", {1, 2, 3}},
                                                     {"model.norm.weight", {1, 2}},
                                                     {"model.layers.0.self_attn.rotary_emb.inv_freq", {1}},
                                                     {"model.extra", {1}}});
    Parameters parameters({{"wte.weight", {3}}, {"ln_f.weight", {3}}, {"lm_head.weight", {5, 3}}});
    const std::vector<float> before = parameters["wte.weight"];
    std::string message;
    try {
        load(path, layout, parameters);
    } catch (const IoError& error) {
        message = error.what();
    }
    CHECK_THAT(message, contains("2 of 3 tensors do not fit the model (names as of HuggingFace Llama):"));
    CHECK_THAT(message, contains("\n  tensor             in the file  expected"));
    CHECK_THAT(message, contains("\n  model.norm.weight  (2)          (3)"));
    CHECK_THAT(message, contains("\n  lm_head.weight     missing      (5, 3)"));
    CHECK_THAT(message, contains("\n  model.extra        (1)          not expected"));
    CHECK(message.find("inv_freq") == std::string::npos);
    CHECK(parameters["wte.weight"] == before);

    Parameters fewer({{"wte.weight", {3}}});
    CHECK(load(path, layout, fewer) == std::vector<std::string>{"model.extra", "model.norm.weight"});
}

TEST_CASE("weights in bf16 and f16 are read, other dtypes refused") {
    const TemporaryFolder folder;
    const CheckpointLayout layout = causeway_layout(ModelConfig{});
    const std::vector<std::uint16_t> bits{0x3F80, 0xC0A0};
    const std::string path = folder.file("a.safetensors");
    const auto values = [&](DType dtype) {
        const std::vector<TensorToWrite> tensors{{"ln_f.weight", TensorDesc(dtype, {2}), bits.data()}};
        write_safetensors(path, tensors);
        Parameters parameters({{"ln_f.weight", {2}}});
        load(path, layout, parameters);
        return parameters["ln_f.weight"];
    };
    CHECK(values(DType::bf16) == std::vector<float>{1.0f, -5.0f});
    CHECK(values(DType::f16) == std::vector<float>{1.875f, -2.3125f});

    const std::vector<std::int32_t> whole{1, 2};
    const std::vector<TensorToWrite> tensors{{"ln_f.weight", TensorDesc(DType::i32, {2}), whole.data()}};
    write_safetensors(path, tensors);
    Parameters parameters({{"ln_f.weight", {2}}});
    CHECK_THROWS_MESSAGE(load(path, layout, parameters), IoError, "ln_f.weight  I32          F32, F64, F16 or BF16");
}

TEST_CASE("bf16 files are half as large and hold rounded values") {
    const TemporaryFolder folder;
    Parameters parameters({{"ln_f.weight", {3}}});
    const std::string path = folder.file("a.safetensors");
    save_checkpoint(path, causeway_layout(ModelConfig{}), parameters.tensors(), DType::bf16, 1.001);
    CHECK(SafetensorsFile(path).find("ln_f.weight")->dtype == "BF16");
    parameters.clear();
    load(path, causeway_layout(ModelConfig{}), parameters);
    CHECK(parameters["ln_f.weight"] == std::vector<float>{1, 2, 3});
}
