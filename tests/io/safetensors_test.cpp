#include "io/safetensors.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "causeway/error.hpp"
#include "support/catch.hpp"
#include "support/safetensors_file.hpp"
#include "support/temporary_folder.hpp"

using namespace causeway;

TEST_CASE("safetensors round-trip") {
    const TemporaryFolder folder;
    const std::string path = folder.file("model.safetensors");
    const std::vector<float> weight{1, 2, 3, 4, 5, 6}, bias{-0.5f};
    const std::vector<std::int64_t> step{7};
    const std::vector<double> moment{1e-300};
    const std::vector<std::uint8_t> flags{1, 2, 3};
    const std::vector<TensorToWrite> tensors{{"wte.weight", TensorDesc(DType::f32, {2, 3}), weight.data()},
                                             {"bias", TensorDesc(DType::f32, {1}), bias.data()},
                                             {"flags", TensorDesc(DType::u8, {3}), flags.data()},
                                             {"step", TensorDesc(DType::i64, Shape{}), step.data()},
                                             {"moment", TensorDesc(DType::f64, {1}), moment.data()},
                                             {"none", TensorDesc(DType::f32, {0, 4}), nullptr}};
    write_safetensors(path, tensors, {{"made_by", "a \"test\" \xc3\xa9"}});

    const SafetensorsFile file(path);
    std::vector<std::string> names;
    for (const SafetensorsEntry& entry : file.tensors()) names.push_back(entry.name);
    // Widest dtypes first; within one dtype by name.
    CHECK(names == std::vector<std::string>{"step", "moment", "bias", "none", "wte.weight", "flags"});
    CHECK(file.metadata() == std::map<std::string, std::string>{{"format", "pt"}, {"made_by", "a \"test\" \xc3\xa9"}});

    std::vector<float> read(6);
    file.read("wte.weight", std::span(read));
    CHECK(read == weight);
    std::int64_t scalar = 0;
    file.read("step", std::span(&scalar, 1));
    CHECK(scalar == 7);
    CHECK(file.view("wte.weight").desc.shape == Shape{2, 3});
    CHECK(file.view("none").bytes.empty());
    CHECK(file.find("wte.weight")->dtype == "F32");
    CHECK(file.find("wpe.weight") == nullptr);

    const std::string content = content_of(path);
    std::uint64_t length = 0;
    std::memcpy(&length, content.data(), 8);
    CHECK(length % 8 == 0);
    CHECK(content.size() == 8 + length + 8 + 8 + 7 * 4 + 3);
}

TEST_CASE("safetensors are byte for byte what the format's reference writer makes") {
    // The golden files were written by it.
    for (const std::string name : {"gpt2_pre/parameters", "s1_h4/batches"}) {
        const std::string golden = std::string(CAUSEWAY_TESTS_DIR) + "/golden/" + name + ".safetensors";
        const SafetensorsFile file(golden);
        REQUIRE_FALSE(file.tensors().empty());
        std::vector<TensorToWrite> tensors;
        for (const SafetensorsEntry& entry : file.tensors()) {
            const FileTensor tensor = file.view(entry.name);
            tensors.insert(tensors.begin(), {entry.name, tensor.desc, tensor.bytes.data()});
        }
        const TemporaryFolder folder;
        write_safetensors(folder.file("copy.safetensors"), tensors, file.metadata());
        // That writer leaves out "__metadata__" when it is given none; Causeway always says which format it is.
        const std::string copy = content_of(folder.file("copy.safetensors")), original = content_of(golden);
        if (file.metadata().contains("format")) {
            CHECK(copy == original);
        } else {
            CHECK(data_of(copy) == data_of(original));
            CHECK(SafetensorsFile(folder.file("copy.safetensors")).tensors().size() == file.tensors().size());
        }
    }
}

TEST_CASE("B46: empty shapes, scalars and files without tensors load") {
    const TemporaryFolder folder;
    const auto open = [&](const std::string& header, const std::string& data) {
        return SafetensorsFile(folder.write("a.safetensors", safetensors(header, data)));
    };
    const SafetensorsFile file = open(R"({"none":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},)"
                                      R"("flat":{"dtype":"F32","shape":[2,0],"data_offsets":[0,0]},)"
                                      R"("end":{"dtype":"F32","shape":[0,3],"data_offsets":[4,4]},)"
                                      R"("scalar":{"dtype":"I32","shape":[],"data_offsets":[0,4]}})",
                                      std::string("\x05\0\0\0", 4));
    CHECK(file.tensors().size() == 4);
    CHECK(file.view("flat").desc.shape == Shape{2, 0});
    CHECK(file.view("end").bytes.empty());
    std::int32_t scalar = 0;
    file.read("scalar", std::span(&scalar, 1));
    CHECK(scalar == 5);

    CHECK(open("{}", "").tensors().empty());
    CHECK(open("{}      ", "").metadata().empty());
    CHECK(open(R"({"__metadata__":{}})", "").metadata().empty());
    CHECK(open(R"({"__metadata__":null})", "").metadata().empty());
    CHECK(open(R"({"__metadata__":{"format":"pt"}})", "").metadata().at("format") == "pt");
    CHECK_THROWS_MESSAGE(open(R"({"__metadata__":3})", ""), IoError,
                         "__metadata__ must map strings to strings, found number");
    CHECK_THROWS_MESSAGE(open(R"({"__metadata__":{"n":3}})", ""), IoError, "'n' must be a string, found number");
}

TEST_CASE("B47: data at any offset gives the same values") {
    const TemporaryFolder folder;
    const float values[2] = {1.5f, -2.25f};
    const std::string data(reinterpret_cast<const char*>(values), sizeof values);
    std::string header = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
    for (int padding = 0; padding < 8; ++padding, header += ' ') {
        const SafetensorsFile file(folder.write("a.safetensors", safetensors(header, data)));
        float read[2] = {};
        file.read("w", std::span<float>(read));
        CHECK(read[0] == 1.5f);
        CHECK(read[1] == -2.25f);
    }
}

TEST_CASE("tensors Causeway cannot use are listed, and refused only when asked for") {
    const TemporaryFolder folder;
    const SafetensorsFile file(
        folder.write("a.safetensors", safetensors(R"({"mask":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]},)"
                                                  R"("deep":{"dtype":"U8","shape":[1,1,1,1,2],"data_offsets":[2,4]}})",
                                                  "\1\1\1\1")));
    CHECK(file.find("mask")->dtype == "BOOL");
    CHECK(file.find("deep")->shape.size() == 5);
    CHECK_THROWS_MESSAGE(file.view("mask"), IoError, "tensor 'mask': dtype BOOL is not supported");
    CHECK_THROWS_MESSAGE(file.view("deep"), IoError, "tensor 'deep': shape (1, 1, 1, 1, 2) has more than 4 dimensions");
    CHECK_THROWS_MESSAGE(file.view("other"), IoError, "there is no tensor 'other'");
}

TEST_CASE("reading a tensor as something else is refused") {
    const TemporaryFolder folder;
    const float value = 1;
    const std::vector<TensorToWrite> tensors{{"w", TensorDesc(DType::f32, {1}), &value}};
    write_safetensors(folder.file("a.safetensors"), tensors);
    const SafetensorsFile file(folder.file("a.safetensors"));
    std::vector<float> two(2);
    std::vector<std::int32_t> integers(1);
    CHECK_THROWS_MESSAGE(file.read("w", std::span(two)), IoError, "tensor 'w' is f32 (1), expected 2 elements of f32");
    CHECK_THROWS_MESSAGE(file.read("w", std::span(integers)), IoError, "expected 1 elements of i32");
}

TEST_CASE("writing safetensors that would not be read back is refused, and the old file stays") {
    const TemporaryFolder folder;
    const std::string path = folder.write("a.safetensors", "old");
    const float value = 1;
    const TensorDesc one(DType::f32, {1});
    TensorDesc packed = one;
    packed.layout = Layout::packed_nt;
    const auto write = [&](const std::vector<TensorToWrite>& tensors) { write_safetensors(path, tensors); };
    CHECK_THROWS_MESSAGE(write({{"w", one, &value}, {"v", one, &value}, {"w", one, &value}}), IoError,
                         "tensor 'w' has a name that is already taken");
    CHECK_THROWS_MESSAGE(write({{"__metadata__", one, &value}}), IoError, "already taken");
    CHECK_THROWS_MESSAGE(write({{"w", packed, &value}}), IoError, "packed");
    CHECK_THROWS_MESSAGE(write({{"w", one, nullptr}}), IoError, "no data");
    CHECK_THROWS_MESSAGE(write({{"\xff", one, &value}}), IoError, "UTF-8");
    CHECK(content_of(path) == "old");
    CHECK_THROWS_MESSAGE(write_safetensors(folder.file("no/a.safetensors"), {}), IoError,
                         "no/a.safetensors: cannot create");
}
