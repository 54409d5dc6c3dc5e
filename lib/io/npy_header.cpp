#include "io/npy_header.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/ceil_div.hpp"
#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

/// Reads the header's text, a Python dict literal with the keys descr, fortran_order and shape.
class DictReader {
  public:
    DictReader(const std::string& path, std::string_view text) : path_(path), text_(text) {}

    std::string descr() const {
        const std::string_view rest = after_key("descr");
        if (rest.empty() || (rest.front() != '\'' && rest.front() != '"')) refuse("its descr is not a plain dtype");
        return std::string(rest.substr(1, rest.substr(1).find_first_of("'\"")));
    }

    bool fortran_order() const {
        const std::string_view rest = after_key("fortran_order");
        if (!rest.starts_with("True") && !rest.starts_with("False")) refuse("its fortran_order is not True or False");
        return rest.starts_with("True");
    }

    std::vector<std::int64_t> shape() const {
        std::string_view rest = after_key("shape");
        const std::size_t close = rest.find(')');
        if (!rest.starts_with('(') || close == std::string_view::npos) refuse("its shape is not a tuple");
        rest = rest.substr(1, close - 1);
        std::vector<std::int64_t> extents;
        for (rest = trim(rest); !rest.empty(); rest = trim(rest)) {
            std::int64_t extent = -1;
            const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
            if (error != std::errc() || extent < 0) refuse("its shape does not hold non-negative integers");
            extents.push_back(extent);
            rest = trim(rest.substr(static_cast<std::size_t>(end - rest.data())));
            if (!rest.empty() && rest.front() != ',') refuse("its shape is not a tuple of integers");
            if (!rest.empty()) rest.remove_prefix(1);
        }
        return extents;
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
    if (file.size() < 10 || !looks_like_npy(file)) throw IoError(fmt::format("{}: not a .npy file", path));
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

}  // namespace

std::optional<std::size_t> NpyHeader::bytes(std::size_t width) const {
    auto bytes = static_cast<std::int64_t>(width);
    for (const std::int64_t extent : shape) {
        if (__builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
    }
    return static_cast<std::size_t>(bytes);
}

bool looks_like_npy(std::span<const std::byte> file) {
    return file.size() >= magic.size() && std::memcmp(file.data(), magic.data(), magic.size()) == 0;
}

NpyHeader parse_npy_header(const std::string& path, std::span<const std::byte> file) {
    const auto [start, length] = header_place(path, file);
    const std::string_view text(reinterpret_cast<const char*>(file.data()) + start, length);
    const DictReader dict(path, text);
    return {dict.descr(), dict.fortran_order(), dict.shape(), start + length};
}

std::string npy_header(std::string_view descr, std::span<const std::int64_t> shape, std::size_t least_bytes) {
    constexpr std::size_t alignment = 64;
    constexpr std::string_view version_1_0("\x01\x00", 2);
    std::string extents;
    for (const std::int64_t extent : shape) extents += fmt::format("{}, ", extent);
    if (shape.size() > 1) extents.resize(extents.size() - 2);
    if (shape.size() == 1) extents.resize(extents.size() - 1);
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, extents);
    const std::size_t start = magic.size() + version_1_0.size() + sizeof(std::uint16_t);
    const std::size_t total = std::max(round_up(start + text.size() + 1, alignment), least_bytes);
    text.resize(total - start - 1, ' ');
    text += '\n';
    std::string header(magic);
    header += version_1_0;
    header += static_cast<char>(text.size() & 0xFF);
    header += static_cast<char>(text.size() >> 8);
    return header + text;
}

}  // namespace causeway
