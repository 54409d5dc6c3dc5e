#include "io/real_elements.hpp"

#include <bit>
#include <cmath>
#include <cstring>

namespace causeway {
namespace {

// How an element of a file becomes a number; Bits is what is copied out of it.
struct F32 {
    using Bits = float;
    static float value(Bits bits) { return bits; }
};
struct F64 {
    using Bits = double;
    static double value(Bits bits) { return bits; }
};
struct F16 {
    using Bits = std::uint16_t;
    static float value(Bits bits) { return f16_to_float(bits); }
};
struct BF16 {
    using Bits = std::uint16_t;
    static float value(Bits bits) { return bf16_to_float(bits); }
};

/// Calls f with the element type of a real dtype.
template <class F>
auto with_element(DType dtype, F&& f) {
    if (dtype == DType::f64) return f(F64{});
    if (dtype == DType::f16) return f(F16{});
    if (dtype == DType::bf16) return f(BF16{});
    return f(F32{});
}

template <class Element>
auto element(std::span<const std::byte> bytes, std::size_t i) {
    typename Element::Bits bits;
    std::memcpy(&bits, bytes.data() + i * sizeof bits, sizeof bits);
    return Element::value(bits);
}

/// Where element (r, c) stands in the file.
std::size_t place(const StoredMatrix& matrix, std::int64_t r, std::int64_t c) {
    return static_cast<std::size_t>(matrix.transposed ? c * matrix.rows + r : r * matrix.cols + c);
}

template <class To>
void read(const StoredMatrix& from, To* out) {
    with_element(from.dtype, [&](auto type) {
        using Element = decltype(type);
        for (std::int64_t r = 0; r < from.rows; ++r) {
            for (std::int64_t c = 0; c < from.cols; ++c) {
                out[r * from.cols + c] = static_cast<To>(element<Element>(from.bytes, place(from, r, c)));
            }
        }
    });
}

template <class From>
void write(const From* from, double scale, const StoredMatrix& to, std::byte* out) {
    const bool narrow = to.dtype == DType::bf16;
    for (std::int64_t r = 0; r < to.rows; ++r) {
        for (std::int64_t c = 0; c < to.cols; ++c) {
            const auto value = static_cast<float>(scale * static_cast<double>(from[r * to.cols + c]));
            const std::size_t at = place(to, r, c);
            if (narrow) {
                const std::uint16_t bits = float_to_bf16(value);
                std::memcpy(out + at * sizeof bits, &bits, sizeof bits);
            } else {
                std::memcpy(out + at * sizeof value, &value, sizeof value);
            }
        }
    }
}

}  // namespace

bool is_real(DType dtype) {
    return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 || dtype == DType::bf16;
}

float f16_to_float(std::uint16_t bits) {
    const std::uint32_t sign = (bits & 0x8000u) << 16u, exponent = (bits >> 10u) & 0x1Fu, fraction = bits & 0x3FFu;
    if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (fraction << 13u));
    if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112u) << 23u) | (fraction << 13u));
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);  // subnormal, a normal float
    return sign != 0 ? -magnitude : magnitude;
}

float bf16_to_float(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16u); }

std::uint16_t float_to_bf16(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    if (std::isnan(value)) return static_cast<std::uint16_t>((bits >> 16u) | 0x40u);  // quiet, so that it stays a NaN
    return static_cast<std::uint16_t>((bits + 0x7FFFu + ((bits >> 16u) & 1u)) >> 16u);
}

void read_matrix(const StoredMatrix& from, float* out) { read(from, out); }
void read_matrix(const StoredMatrix& from, double* out) { read(from, out); }

void write_matrix(const float* from, double scale, const StoredMatrix& to, std::byte* out) {
    write(from, scale, to, out);
}
void write_matrix(const double* from, double scale, const StoredMatrix& to, std::byte* out) {
    write(from, scale, to, out);
}

std::optional<NotFiniteElement> find_not_finite_element(DType dtype, std::span<const std::byte> bytes) {
    return with_element(dtype, [&](auto type) -> std::optional<NotFiniteElement> {
        using Element = decltype(type);
        for (std::size_t i = 0; i < bytes.size() / sizeof(typename Element::Bits); ++i) {
            const auto value = static_cast<double>(element<Element>(bytes, i));
            if (!std::isfinite(value)) return NotFiniteElement{i, value};
        }
        return std::nullopt;
    });
}

}  // namespace causeway
