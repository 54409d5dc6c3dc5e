#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "io/mapped_file.hpp"
#include "tensor/tensor_desc.hpp"

namespace causeway {

/// A NumPy .npy file (format versions 1 to 3) mapped read-only: little-endian f32, f64, f16, i32, i64, u8 or bool (as
/// u8) in C order, at most four dimensions.
class NpyFile {
  public:
    /// Throws IoError (path and reason) when the file is something else, or is longer or shorter than its shape says.
    explicit NpyFile(const std::string& path);

    const TensorDesc& desc() const { return desc_; }
    /// Row-major elements; valid as long as this object; not necessarily aligned.
    std::span<const std::byte> bytes() const { return file_.bytes().subspan(offset_); }

    /// Copies the elements. Throws IoError when the dtype or the number of elements is another.
    template <class T>
    void read(std::span<T> out) const {
        read_bytes(dtype_of<T>(), std::as_writable_bytes(out));
    }

  private:
    void read_bytes(DType dtype, std::span<std::byte> out) const;

    MappedFile file_;
    TensorDesc desc_;
    std::size_t offset_ = 0;
};

/// Writes desc.shape.elements() row-major elements at `data` as a .npy file (version 1.0, C order), atomically.
/// Throws IoError; bf16, which NumPy has no type for, is refused.
void write_npy(const std::string& path, const TensorDesc& desc, const void* data);

}  // namespace causeway
