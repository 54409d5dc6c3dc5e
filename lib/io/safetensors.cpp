#include "io/safetensors.hpp"

#include <fmt/ranges.h>

#include <cstring>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/safetensors_dtype.hpp"
#include "io/safetensors_header.hpp"

namespace causeway {

SafetensorsFile::SafetensorsFile(const std::string& path) : file_(path) {
    SafetensorsHeader header = parse_safetensors_header(path, file_.bytes());
    tensors_ = std::move(header.tensors);
    metadata_ = std::move(header.metadata);
    for (std::size_t i = 0; i < tensors_.size(); ++i) index_.emplace(tensors_[i].name, i);
}

const SafetensorsEntry* SafetensorsFile::find(std::string_view name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &tensors_[found->second];
}

FileTensor SafetensorsFile::view(std::string_view name) const {
    const SafetensorsEntry* entry = find(name);
    if (entry == nullptr) throw IoError(fmt::format("{}: there is no tensor '{}'", path(), name));
    const auto dtype = find_safetensors_dtype(entry->dtype)->dtype;
    if (!dtype) throw IoError(fmt::format("{}: tensor '{}': dtype {} is not supported", path(), name, entry->dtype));
    if (entry->shape.size() > Shape::max_rank) {
        throw IoError(fmt::format("{}: tensor '{}': shape ({}) has more than {} dimensions", path(), name,
                                  fmt::join(entry->shape, ", "), Shape::max_rank));
    }
    return {TensorDesc(*dtype, Shape(entry->shape)), bytes(*entry)};
}

void SafetensorsFile::read_bytes(std::string_view name, DType dtype, std::span<std::byte> out) const {
    const FileTensor tensor = view(name);
    if (tensor.desc.dtype != dtype || tensor.bytes.size() != out.size()) {
        throw IoError(fmt::format("{}: tensor '{}' is {} {}, expected {} elements of {}", path(), name,
                                  to_string(tensor.desc.dtype), to_string(tensor.desc.shape),
                                  out.size() / size_of(dtype), to_string(dtype)));
    }
    if (!out.empty()) std::memcpy(out.data(), tensor.bytes.data(), out.size());
}

}  // namespace causeway
