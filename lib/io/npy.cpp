#include "io/npy.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/ceil_div.hpp"
#include "causeway/error.hpp"
#include "io/atomic_file.hpp"

namespace causeway {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t alignment = 64;  // of the data, as NumPy itself writes it

// What is written is the first of its DType; NumPy's bool is read as bytes.
constexpr std::array descriptions{
    std::pair<std::string_view, DType>{"<f4", DType::f32}, std::pair<std::string_view, DType>{"<f8", DType::f64},
    std::pair<std::string_view, DType>{"<f2", DType::f16}, std::pair<std::string_view, DType>{"<i4", DType::i32},
    std::pair<std::string_view, DType>{"<i8", DType::i64}, std::pair<std::string_view, DType>{"|u1", DType::u8},
    std::pair<std::string_view, DType>{"|b1", DType::u8},
};

/// Reads the header, a Python dict literal with the keys descr, fortran_order and shape.
class NpyHeader {
  public:
    NpyHeader(const std::string& path, std::string_view text) : path_(path), text_(text) {}

    DType dtype() const {
        std::string_view rest = after_key("descr");
        if (rest.empty() || (rest.front() != '\'' && rest.front() != '"')) refuse("its descr is not a plain dtype");
        rest = rest.substr(1, rest.substr(1).find_first_of("'\""));
        for (const auto& [name, dtype] : descriptions) {
            if (name == rest) return dtype;
        }
        refuse(fmt::format("dtype '{}' is not supported, expected <f4, <f8, <f2, <i4, <i8, |u1 or |b1", rest));
    }

    bool fortran_order() const {
        const std::string_view rest = after_key("fortran_order");
        if (!rest.starts_with("True") && !rest.starts_with("False")) refuse("its fortran_order is not True or False");
        return rest.starts_with("True");
    }

    Shape shape() const {
        std::string_view rest = after_key("shape");
        const std::size_t close = rest.find(')');
        if (!rest.starts_with('(') || close == std::string_view::npos) refuse("its shape is not a tuple");
        rest = rest.substr(1, close - 1);
        std::array<std::int64_t, Shape::max_rank> extents{};
        std::size_t rank = 0;
        for (rest = trim(rest); !rest.empty(); rest = trim(rest)) {
            if (rank == extents.size()) refuse(fmt::format("it has more than {} dimensions", extents.size()));
            const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extents[rank]);
            if (error != std::errc() || extents[rank] < 0) refuse("its shape does not hold non-negative integers");
            ++rank;
            rest = trim(rest.substr(static_cast<std::size_t>(end - rest.data())));
            if (!rest.empty() && rest.front() != ',') refuse("its shape is not a tuple of integers");
            if (!rest.empty()) rest.remove_prefix(1);
        }
        return Shape(std::span<const std::int64_t>(extents.data(), rank));
    }

  private:
    [[noreturn]] void refuse(std::string_view reason) const { throw IoError(fmt::format("{}: {}", path_, reason)); }

    static std::string_view trim(std::string_view text) {
        const std::size_t first = text.find_first_not_of(' ');
        return first == std::string_view::npos ? std::string_view() : text.substr(first);
    }

    std::string_view after_key(std::string_view key) const {
        for (const char quote : {'\'', '"'}) {
            const std::string quoted = fmt::format("{}{}{}", quote, key, quote);
            const std::size_t found = text_.find(quoted);
            if (found == std::string_view::npos) continue;
            const std::string_view rest = trim(text_.substr(found + quoted.size()));
            if (rest.starts_with(':')) return trim(rest.substr(1));
        }
        refuse(fmt::format("its header has no {}", key));
    }

    const std::string& path_;
    std::string_view text_;
};

/// Where the header's text lies in the file: offset and length.
std::pair<std::size_t, std::size_t> header_place(const std::string& path, std::span<const std::byte> file) {
    const std::string_view content(reinterpret_cast<const char*>(file.data()), file.size());
    if (file.size() < 10 || !content.starts_with(magic)) throw IoError(fmt::format("{}: not a .npy file", path));
    const auto version = std::to_integer<int>(file[6]);
    if (version < 1 || version > 3) throw IoError(fmt::format("{}: unknown .npy version {}", path, version));
    const std::size_t width = version == 1 ? 2 : 4;  // of the header length that follows the version
    const std::size_t start = 8 + width;
    std::uint32_t length = 0;
    if (file.size() >= start) std::memcpy(&length, file.data() + 8, width);
    if (file.size() < start || length > file.size() - start) {
        throw IoError(fmt::format("{}: truncated inside its header", path));
    }
    return {start, length};
}

/// Bytes the elements take, or nothing when that does not fit 63 bits.
std::optional<std::size_t> bytes_of(DType dtype, const Shape& shape) {
    auto bytes = static_cast<std::int64_t>(size_of(dtype));
    for (std::int64_t extent : shape.extents()) {
        if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
    }
    return static_cast<std::size_t>(bytes);
}

std::string header_of(std::string_view description, const Shape& shape) {
    std::string extents;
    for (std::int64_t extent : shape.extents()) extents += fmt::format("{}, ", extent);
    if (shape.rank() > 1) extents.resize(extents.size() - 2);
    if (shape.rank() == 1) extents.resize(extents.size() - 1);
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", description, extents);
    const std::size_t start = magic.size() + 4;
    const std::size_t total = round_up(start + text.size() + 1, alignment);
    text.resize(total - start - 1, ' ');
    return text + '\n';
}

}  // namespace

NpyFile::NpyFile(const std::string& path) : file_(path) {
    const auto [start, length] = header_place(path, file_.bytes());
    const std::string_view text(reinterpret_cast<const char*>(file_.bytes().data()) + start, length);
    const NpyHeader header(path, text);
    const DType dtype = header.dtype();
    const Shape shape = header.shape();
    if (header.fortran_order() && shape.rank() > 1) {
        throw IoError(fmt::format("{}: is in Fortran order, expected C order (numpy.ascontiguousarray)", path));
    }
    offset_ = start + length;
    const std::optional<std::size_t> expected = bytes_of(dtype, shape);
    const std::size_t found = file_.size() - offset_;
    if (!expected || *expected != found) {
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
    const std::string header = header_of(description, desc.shape);
    const auto length = static_cast<std::uint16_t>(header.size());
    constexpr std::array<std::uint8_t, 2> version{1, 0};
    const auto elements = static_cast<std::size_t>(desc.shape.elements());

    AtomicFile file(path);
    file.write(std::as_bytes(std::span(magic)));
    file.write(std::as_bytes(std::span(version)));
    file.write(std::as_bytes(std::span(&length, 1)));
    file.write(std::as_bytes(std::span(header)));
    file.write({static_cast<const std::byte*>(data), elements * size_of(desc.dtype)});
    file.commit();
}

}  // namespace causeway
