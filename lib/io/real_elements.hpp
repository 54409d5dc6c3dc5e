#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tensor/dtype.hpp"

namespace causeway {

/// f32, f64, f16, bf16: what parameters may be stored as.
bool is_real(DType dtype);

/// IEEE 754 binary16 and bfloat16, given as their bits; both conversions are exact, subnormals, infinities and NaN
/// included.
float f16_to_float(std::uint16_t bits);
float bf16_to_float(std::uint16_t bits);
/// Rounded to nearest, ties to even; what is too large becomes infinity, a NaN stays one.
std::uint16_t float_to_bf16(float value);

/// A matrix in a file: (rows, cols) row-major, or (cols, rows) when transposed. Its bytes need no alignment.
struct StoredMatrix {
    DType dtype = DType::f32;  ///< a real one
    std::span<const std::byte> bytes;
    std::int64_t rows = 0, cols = 0;
    bool transposed = false;
};

/// The matrix as (rows, cols), row-major. Values that float cannot hold are rounded.
void read_matrix(const StoredMatrix& from, float* out);
void read_matrix(const StoredMatrix& from, double* out);

/// scale x (rows, cols) in the form `to` describes, f32 or bf16; to.bytes is ignored, `out` has the room.
void write_matrix(const float* from, double scale, const StoredMatrix& to, std::byte* out);
void write_matrix(const double* from, double scale, const StoredMatrix& to, std::byte* out);

/// The first element that is NaN or infinite.
struct NotFiniteElement {
    std::size_t element = 0;
    double value = 0;
};
std::optional<NotFiniteElement> find_not_finite_element(DType dtype, std::span<const std::byte> bytes);

}  // namespace causeway
