#include "tensor/shape.hpp"

#include <fmt/ranges.h>

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {

Shape::Shape(std::initializer_list<std::int64_t> extents)
    : Shape(std::span<const std::int64_t>(extents.begin(), extents.size())) {}

Shape::Shape(std::span<const std::int64_t> extents) : rank_(extents.size()) {
    if (extents.size() > max_rank) {
        throw GraphError(fmt::format("a shape has at most {} extents, found {}", max_rank, extents.size()));
    }
    for (std::size_t axis = 0; axis < extents.size(); ++axis) {
        if (extents[axis] < 0)
            throw GraphError(fmt::format("extent {} of a shape is negative: {}", axis, extents[axis]));
        extents_[axis] = extents[axis];
    }
}

std::int64_t Shape::elements() const {
    std::int64_t product = 1;
    for (std::int64_t extent : extents()) {
        if (__builtin_mul_overflow(product, extent, &product)) {
            throw GraphError(fmt::format("shape {} has too many elements for 63 bits", to_string(*this)));
        }
    }
    return product;
}

std::string to_string(const Shape& shape) { return fmt::format("({})", fmt::join(shape.extents(), ", ")); }

}  // namespace causeway
