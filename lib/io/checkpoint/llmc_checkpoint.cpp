#include "io/checkpoint/llmc_checkpoint.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "config/json.hpp"
#include "io/mapped_file.hpp"

namespace causeway {
namespace {

constexpr std::int32_t magic = 20240326;
constexpr std::size_t header_numbers = 256;
constexpr std::size_t header_bytes = header_numbers * sizeof(std::int32_t);

struct Header {
    std::int64_t version, context, vocab, layers, heads, channels, padded_vocab;
};

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
    throw IoError(fmt::format("{}: {}", path, reason));
}

Header read_header(const MappedFile& file) {
    if (file.size() < header_bytes) refuse(file.path(), "is shorter than the header of an llm.c checkpoint");
    std::array<std::int32_t, header_numbers> numbers{};
    std::memcpy(numbers.data(), file.bytes().data(), header_bytes);
    if (numbers[0] != magic) refuse(file.path(), "is no llm.c checkpoint: it begins with another number");
    const Header header{numbers[1], numbers[2], numbers[3], numbers[4], numbers[5], numbers[6], numbers[7]};
    if (header.version != 3 && header.version != 5) {
        refuse(file.path(), fmt::format("version {} of llm.c's checkpoints is not known, expected 3 (float32) or 5 "
                                        "(bfloat16)",
                                        header.version));
    }
    for (const std::int64_t number : {header.context, header.vocab, header.layers, header.heads, header.channels}) {
        if (number < 1) refuse(file.path(), fmt::format("its header holds a size of {}", number));
    }
    if (header.padded_vocab < header.vocab) {
        refuse(file.path(), fmt::format("its padded vocabulary ({}) is smaller than its vocabulary ({})",
                                        header.padded_vocab, header.vocab));
    }
    return header;
}

Config config_of(const std::string& path, const Header& header) {
    const config::Json model = {
        {"model_type", "gpt2"},     {"vocab_size", header.vocab}, {"n_positions", header.context},
        {"n_layer", header.layers}, {"n_head", header.heads},     {"n_embd", header.channels},
        {"attn_pdrop", 0.0},        {"embd_pdrop", 0.0},          {"resid_pdrop", 0.0}};
    return parse_config(model.dump(), path);
}

/// One kind of parameter: for every layer, or once.
struct Group {
    std::string name;  ///< after "h.<layer>." in groups of layers
    bool per_layer;
    std::vector<std::int64_t> shape;
    std::int64_t padding = 0;  ///< rows that follow and mean nothing
};

std::vector<Group> groups_of(const Header& header) {
    const std::int64_t c = header.channels;
    return {{"wte.weight", false, {header.vocab, c}, header.padded_vocab - header.vocab},
            {"wpe.weight", false, {header.context, c}},
            {"ln_1.weight", true, {c}},
            {"ln_1.bias", true, {c}},
            {"attn.qkv.weight", true, {3 * c, c}},
            {"attn.qkv.bias", true, {3 * c}},
            {"attn.proj.weight", true, {c, c}},
            {"attn.proj.bias", true, {c}},
            {"ln_2.weight", true, {c}},
            {"ln_2.bias", true, {c}},
            {"mlp.fc.weight", true, {4 * c, c}},
            {"mlp.fc.bias", true, {4 * c}},
            {"mlp.proj.weight", true, {c, 4 * c}},
            {"mlp.proj.bias", true, {c}},
            {"ln_f.weight", false, {c}},
            {"ln_f.bias", false, {c}}};
}

/// Walks through the file in its order. Sizes come from a checked config, so products of them are far below 2^63.
StoredTensors tensors_of(std::shared_ptr<const MappedFile> file, const Header& header) {
    const std::size_t width = header.version == 3 ? 4 : 2;
    const std::string dtype = header.version == 3 ? "F32" : "BF16";
    std::vector<StoredTensor> tensors;
    std::size_t at = header_bytes;
    for (const Group& group : groups_of(header)) {
        std::size_t bytes = width;
        for (const std::int64_t extent : group.shape) bytes *= static_cast<std::size_t>(extent);
        for (std::int64_t layer = 0; layer < (group.per_layer ? header.layers : 1); ++layer) {
            if (at > file->size() || bytes > file->size() - at) {
                refuse(file->path(), fmt::format("ends inside '{}': it has {} bytes", group.name, file->size()));
            }
            const std::string name = group.per_layer ? fmt::format("h.{}.{}", layer, group.name) : group.name;
            tensors.push_back({name, dtype, group.shape, file->bytes().subspan(at, bytes)});
            at += bytes;
        }
        at += static_cast<std::size_t>(group.padding * header.channels) * width;
    }
    if (at != file->size()) {
        refuse(file->path(), fmt::format("has {} bytes, its header says {}", file->size(), at));
    }
    return {file->path(), std::move(tensors), file};
}

StoredTensors open_tensors(const std::string& path, Config& config) {
    auto file = std::make_shared<const MappedFile>(path);
    const Header header = read_header(*file);
    config = config_of(path, header);
    return tensors_of(std::move(file), header);
}

}  // namespace

bool is_llmc_checkpoint(const std::string& path) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
    std::int32_t first = 0;
    return file != nullptr && std::fread(&first, sizeof first, 1, file.get()) == 1 && first == magic;
}

LlmcCheckpoint::LlmcCheckpoint(const std::string& path) : tensors_(open_tensors(path, config_)) {}

}  // namespace causeway
