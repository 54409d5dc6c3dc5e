#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace causeway {

/// What the header of a NumPy .npy file (format versions 1 to 3) says, and where the elements begin.
struct NpyHeader {
    std::string descr;  ///< NumPy's name of the element type: "<f4"
    bool fortran_order = false;
    std::vector<std::int64_t> shape;  ///< none negative
    std::size_t offset = 0;           ///< of the first element in the file; inside it or its end

    /// Bytes that elements of `width` bytes take, or nothing when that does not fit 63 bits.
    std::optional<std::size_t> bytes(std::size_t width) const;
};

/// True when the file begins as a .npy file does.
bool looks_like_npy(std::span<const std::byte> file);

/// Reads the header of `file`, the whole content of the file at `path`. Throws IoError (path and reason) when there is
/// none; what follows the header is not looked at. O(length of the header).
NpyHeader parse_npy_header(const std::string& path, std::span<const std::byte> file);

/// The beginning of a .npy file (version 1.0, C order) with elements of NumPy's type `descr`, up to the first element:
/// a multiple of 64 bytes, as NumPy writes it, and at least `least_bytes`.
std::string npy_header(std::string_view descr, std::span<const std::int64_t> shape, std::size_t least_bytes = 0);

}  // namespace causeway
