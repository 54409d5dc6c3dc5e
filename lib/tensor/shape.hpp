#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace causeway {

/// Up to four extents, outermost first. A rank-0 shape is a scalar of one element.
class Shape {
  public:
    static constexpr std::size_t max_rank = 4;

    constexpr Shape() = default;
    /// Throws GraphError above four extents or for a negative one.
    Shape(std::initializer_list<std::int64_t> extents);
    explicit Shape(std::span<const std::int64_t> extents);

    std::size_t rank() const { return rank_; }
    std::int64_t operator[](std::size_t axis) const { return extents_[axis]; }
    /// Extent counted from the innermost: back(0) is the last one.
    std::int64_t back(std::size_t from_end = 0) const { return extents_[rank_ - 1 - from_end]; }
    /// Product of all extents. Throws GraphError when it does not fit 63 bits.
    std::int64_t elements() const;
    /// Product of all extents but the last: how many rows the tensor has when seen as a matrix.
    std::int64_t rows() const { return rank_ == 0 ? 1 : elements() / (back() == 0 ? 1 : back()); }
    std::span<const std::int64_t> extents() const { return {extents_.data(), rank_}; }

    bool operator==(const Shape&) const = default;

  private:
    std::array<std::int64_t, max_rank> extents_{};
    std::size_t rank_ = 0;
};

/// "(2, 5, 64)"; "()" for a scalar.
std::string to_string(const Shape& shape);

}  // namespace causeway
