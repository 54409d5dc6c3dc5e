#include "inspect/attention_mask.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/npy.hpp"

namespace causeway {
namespace {

template <class T>
std::vector<std::uint8_t> not_zero(const NpyFile& file) {
    std::vector<T> elements(static_cast<std::size_t>(file.desc().shape.elements()));
    file.read<T>(elements);
    std::vector<std::uint8_t> visible(elements.size());
    std::ranges::transform(elements, visible.begin(), [](T x) { return static_cast<std::uint8_t>(x != T{0}); });
    return visible;
}

}  // namespace

bool AttentionMask::sees(std::int64_t b, std::int64_t h, std::int64_t query, std::int64_t key) const {
    const std::int64_t rows = shape.back(1), columns = shape.back();
    std::int64_t matrix = 0;
    if (shape.rank() == 4) matrix = (shape[0] == 1 ? 0 : b * shape[1]) + (shape[1] == 1 ? 0 : h);
    return visible[static_cast<std::size_t>((matrix * rows + query) * columns + key)] != 0;
}

AttentionMask read_attention_mask(const std::string& path) {
    const NpyFile file(path);
    const Shape& shape = file.desc().shape;
    if (shape.rank() != 2 && shape.rank() != 4) {
        throw IoError(fmt::format("{}: a mask is (T,T) or (1 or B, 1 or H, T, T), found {}", path, to_string(shape)));
    }
    switch (file.desc().dtype) {
        case DType::u8:
            return {shape, not_zero<std::uint8_t>(file)};
        case DType::i32:
            return {shape, not_zero<std::int32_t>(file)};
        case DType::i64:
            return {shape, not_zero<std::int64_t>(file)};
        case DType::f32:
            return {shape, not_zero<float>(file)};
        case DType::f64:
            return {shape, not_zero<double>(file)};
        default:
            throw IoError(fmt::format("{}: a mask holds bool, u8, i32, i64, f32 or f64, found {}", path,
                                      to_string(file.desc().dtype)));
    }
}

}  // namespace causeway
