#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/ceil_div.hpp"
#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/atomic_file.hpp"
#include "io/safetensors.hpp"
#include "io/safetensors_dtype.hpp"
#include "io/safetensors_header.hpp"

namespace causeway {
namespace {

using nlohmann::ordered_json;

void check_tensors(const std::string& path, std::span<const TensorToWrite> tensors) {
    std::unordered_set<std::string_view> names{"__metadata__"};
    for (const TensorToWrite& tensor : tensors) {
        const auto refuse = [&](std::string_view reason) {
            throw IoError(fmt::format("{}: tensor '{}' {}", path, tensor.name, reason));
        };
        if (!names.insert(tensor.name).second) refuse("has a name that is already taken");
        if (tensor.desc.layout != Layout::logical) refuse("is packed: only row-major tensors can be written");
        if (tensor.data == nullptr && !tensor.fill && tensor.desc.bytes() > 0) refuse("has no data");
    }
}

/// The order of the format's reference writer: widest dtypes first, then names.
std::vector<const TensorToWrite*> in_file_order(std::span<const TensorToWrite> tensors) {
    std::vector<const TensorToWrite*> order;
    for (const TensorToWrite& tensor : tensors) order.push_back(&tensor);
    std::sort(order.begin(), order.end(), [](const TensorToWrite* a, const TensorToWrite* b) {
        const int rank_a = safetensors_dtype(a->desc.dtype).rank, rank_b = safetensors_dtype(b->desc.dtype).rank;
        return rank_a != rank_b ? rank_a > rank_b : a->name < b->name;
    });
    return order;
}

std::string header_of(const std::string& path, const std::vector<const TensorToWrite*>& order,
                      const std::map<std::string, std::string>& metadata) {
    ordered_json header;
    header["__metadata__"] = metadata;
    std::int64_t offset = 0;
    for (const TensorToWrite* tensor : order) {
        const std::int64_t end = offset + tensor->desc.bytes();
        const auto extents = tensor->desc.shape.extents();
        header.push_back({tensor->name,
                          {{"dtype", safetensors_dtype(tensor->desc.dtype).name},
                           {"shape", std::vector<std::int64_t>(extents.begin(), extents.end())},
                           {"data_offsets", {offset, end}}}});
        offset = end;
    }
    std::string text;
    try {
        text = header.dump();
    } catch (const ordered_json::exception& error) {
        throw IoError(fmt::format("{}: a tensor name or metadata is not UTF-8: {}", path, error.what()));
    }
    text.resize(round_up(text.size(), 8), ' ');
    if (text.size() > max_safetensors_header) {
        throw IoError(
            fmt::format("{}: a header of {} bytes exceeds the format's {}", path, text.size(), max_safetensors_header));
    }
    return text;
}

}  // namespace

std::vector<TensorToWrite> to_write(std::span<const NamedTensor> tensors) {
    std::vector<TensorToWrite> result;
    for (const NamedTensor& tensor : tensors) result.push_back({tensor.name, tensor.view.desc, tensor.view.data});
    return result;
}

std::string write_safetensors(const std::string& path, std::span<const TensorToWrite> tensors,
                              std::map<std::string, std::string> metadata) {
    check_tensors(path, tensors);
    metadata.emplace("format", "pt");
    const std::vector<const TensorToWrite*> order = in_file_order(tensors);
    const std::string header = header_of(path, order, metadata);
    const std::uint64_t length = header.size();

    AtomicFile file(path);
    file.write(std::as_bytes(std::span(&length, 1)));
    file.write(std::as_bytes(std::span(header)));
    std::vector<std::byte> made;
    for (const TensorToWrite* tensor : order) {
        const auto size = static_cast<std::size_t>(tensor->desc.bytes());
        if (tensor->data == nullptr && tensor->fill) {
            made.resize(size);
            tensor->fill(made.data());
        }
        file.write({tensor->data != nullptr ? static_cast<const std::byte*>(tensor->data) : made.data(), size});
    }
    file.commit();
    return file.hash();
}

}  // namespace causeway
