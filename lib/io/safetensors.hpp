#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/mapped_file.hpp"
#include "tensor/named_tensor.hpp"
#include "tensor/tensor_desc.hpp"

namespace causeway {

/// One tensor of a safetensors file as its header declares it, checked against the file.
struct SafetensorsEntry {
    std::string name;
    std::string dtype;                ///< the format's name: "F32", "BF16", "BOOL", ...
    std::vector<std::int64_t> shape;  ///< any rank
    std::size_t offset = 0;           ///< of its first byte, from the start of the file
    std::size_t bytes = 0;
};

/// The bytes of a tensor inside a mapped file. They need not be aligned to the element type.
struct FileTensor {
    TensorDesc desc;
    std::span<const std::byte> bytes;
};

/// A safetensors file, mapped and trusted only after its header is proven: sizes are compared with the file before
/// anything is allocated for them, the data is covered without holes, overlaps or a tail, and names are unique.
/// Dtypes Causeway has no use for (BOOL, F8_*, ...) and ranks above four are legal in the file; only asking for such a
/// tensor is an error. "__metadata__" must map strings to strings; null counts as absent.
class SafetensorsFile {
  public:
    /// Throws IoError naming the file, the tensor and the reason. O(header log header); the data is not touched.
    explicit SafetensorsFile(const std::string& path);

    const std::string& path() const { return file_.path(); }
    /// In the order of their data.
    const std::vector<SafetensorsEntry>& tensors() const { return tensors_; }
    const std::map<std::string, std::string>& metadata() const { return metadata_; }

    /// The declaration of a tensor, nullptr when there is none of that name. O(log n).
    const SafetensorsEntry* find(std::string_view name) const;

    /// The bytes of a tensor; valid as long as this object. Throws IoError when the file has no such tensor, or has it
    /// with a dtype or rank that Causeway does not read.
    FileTensor view(std::string_view name) const;

    /// The bytes of one of this file's entries, whatever its dtype and rank.
    std::span<const std::byte> bytes(const SafetensorsEntry& entry) const {
        return file_.bytes().subspan(entry.offset, entry.bytes);
    }

    /// Copies a tensor of element type T (float, double, std::int32_t, ...) into `out`.
    /// Throws IoError when its dtype or its number of elements is another.
    template <class T>
    void read(std::string_view name, std::span<T> out) const {
        read_bytes(name, dtype_of<T>(), std::as_writable_bytes(out));
    }

  private:
    void read_bytes(std::string_view name, DType dtype, std::span<std::byte> out) const;

    MappedFile file_;
    std::vector<SafetensorsEntry> tensors_;
    std::map<std::string, std::size_t, std::less<>> index_;
    std::map<std::string, std::string> metadata_;
};

/// A tensor to be written: `data` points to desc.shape.elements() elements in row-major order, or is null and `fill`
/// makes them, in memory that is there for one tensor at a time.
struct TensorToWrite {
    std::string name;
    TensorDesc desc;
    const void* data = nullptr;
    std::function<void(std::byte*)> fill{};
};

/// Tensors to be written from where they are.
std::vector<TensorToWrite> to_write(std::span<const NamedTensor> tensors);

/// Writes a safetensors file atomically (see AtomicFile): the widest dtypes first, then by name, as the format's
/// reference writer orders them; the header is padded with spaces so that the data begins at a multiple of 8.
/// `metadata` is written as "__metadata__", with "format": "pt" added unless it has a format of its own.
/// Throws IoError for a name used twice, and for what the system refuses; `path` then keeps its old content.
/// Returns the file's hash (see ContentHash).
std::string write_safetensors(const std::string& path, std::span<const TensorToWrite> tensors,
                              std::map<std::string, std::string> metadata = {});

}  // namespace causeway
