#include "io/npy.hpp"

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/atomic_file.hpp"
#include "io/npy_header.hpp"

namespace causeway {
namespace {

// What is written is the first of its DType; NumPy's bool is read as bytes.
constexpr std::array descriptions{
    std::pair<std::string_view, DType>{"<f4", DType::f32}, std::pair<std::string_view, DType>{"<f8", DType::f64},
    std::pair<std::string_view, DType>{"<f2", DType::f16}, std::pair<std::string_view, DType>{"<i4", DType::i32},
    std::pair<std::string_view, DType>{"<i8", DType::i64}, std::pair<std::string_view, DType>{"|u1", DType::u8},
    std::pair<std::string_view, DType>{"|b1", DType::u8},
};

DType dtype_named(const std::string& path, std::string_view descr) {
    for (const auto& [name, dtype] : descriptions) {
        if (name == descr) return dtype;
    }
    throw IoError(
        fmt::format("{}: dtype '{}' is not supported, expected <f4, <f8, <f2, <i4, <i8, |u1 or |b1", path, descr));
}

}  // namespace

NpyFile::NpyFile(const std::string& path) : file_(path) {
    const NpyHeader header = parse_npy_header(path, file_.bytes());
    const DType dtype = dtype_named(path, header.descr);
    if (header.shape.size() > Shape::max_rank) {
        throw IoError(fmt::format("{}: it has more than {} dimensions", path, Shape::max_rank));
    }
    const Shape shape{std::span<const std::int64_t>(header.shape)};
    if (header.fortran_order && shape.rank() > 1) {
        throw IoError(fmt::format("{}: is in Fortran order, expected C order (numpy.ascontiguousarray)", path));
    }
    offset_ = header.offset;
    const std::size_t found = file_.size() - offset_;
    if (header.bytes(size_of(dtype)) != found) {
        throw IoError(fmt::format("{}: {} elements of shape {} do not take the {} bytes that follow the header", path,
                                  to_string(dtype), to_string(shape), found));
    }
    desc_ = TensorDesc(dtype, shape);
}

void NpyFile::read_bytes(DType dtype, std::span<std::byte> out) const {
    if (desc_.dtype != dtype || bytes().size() != out.size()) {
        throw IoError(fmt::format("{}: holds {} {}, expected {} elements of {}", file_.path(), to_string(desc_.dtype),
                                  to_string(desc_.shape), out.size() / size_of(dtype), to_string(dtype)));
    }
    if (!out.empty()) std::memcpy(out.data(), bytes().data(), out.size());
}

void write_npy(const std::string& path, const TensorDesc& desc, const void* data) {
    std::string_view description;
    for (const auto& [name, dtype] : descriptions) {
        if (dtype == desc.dtype) description = name;
    }
    if (description.empty()) {
        throw IoError(fmt::format("{}: .npy has no element type for {}", path, to_string(desc.dtype)));
    }
    const std::string header = npy_header(description, desc.shape.extents());
    const auto elements = static_cast<std::size_t>(desc.shape.elements());

    AtomicFile file(path);
    file.write(std::as_bytes(std::span(header)));
    file.write({static_cast<const std::byte*>(data), elements * size_of(desc.dtype)});
    file.commit();
}

}  // namespace causeway
