#pragma once

#include <cstdint>
#include <string>

#include "tensor/dtype.hpp"
#include "tensor/shape.hpp"

namespace causeway {

/// How the elements of a value lie in memory.
enum class Layout {
    logical,    ///< row-major, no padding
    packed_nt,  ///< column panels of a weight (N,K), as GEMM form nt of the plan's kernel table reads it
    packed_nn,  ///< column panels of a weight (K,N), as GEMM form nn reads it
};

/// What a value is: element type, logical shape, memory layout and how many elements it occupies.
struct TensorDesc {
    DType dtype = DType::f32;
    Shape shape;
    Layout layout = Layout::logical;
    std::int64_t stored_elements = 0;  ///< shape.elements() for logical layout; set by the kernel for packed ones

    TensorDesc() = default;
    TensorDesc(DType type, const Shape& extents) : dtype(type), shape(extents), stored_elements(extents.elements()) {}

    bool operator==(const TensorDesc&) const = default;
    std::int64_t bytes() const { return stored_elements * static_cast<std::int64_t>(size_of(dtype)); }
};

/// "f32 (2, 3)", and where it is not stored so, "f32 (2, 3) packed_nt in 96 elements".
std::string to_string(const TensorDesc& desc);

/// A tensor in memory that somebody else owns.
struct TensorView {
    void* data = nullptr;
    TensorDesc desc;

    template <class T>
    T* as() const {
        return static_cast<T*>(data);
    }
};

}  // namespace causeway
