#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace causeway {

/// Element types of the values in a graph. bf16 is stored as its 16 bits.
enum class DType { f32, f64, bf16, f16, i32, i64, u8 };

constexpr std::size_t size_of(DType dtype) {
    switch (dtype) {
        case DType::f64:
        case DType::i64:
            return 8;
        case DType::f32:
        case DType::i32:
            return 4;
        case DType::bf16:
        case DType::f16:
            return 2;
        case DType::u8:
            return 1;
    }
    return 0;
}

constexpr std::string_view to_string(DType dtype) {
    switch (dtype) {
        case DType::f32:
            return "f32";
        case DType::f64:
            return "f64";
        case DType::bf16:
            return "bf16";
        case DType::f16:
            return "f16";
        case DType::i32:
            return "i32";
        case DType::i64:
            return "i64";
        case DType::u8:
            return "u8";
    }
    return "?";
}

/// The DType of a C++ element type.
template <class T>
constexpr DType dtype_of() = delete;
template <>
constexpr DType dtype_of<float>() {
    return DType::f32;
}
template <>
constexpr DType dtype_of<double>() {
    return DType::f64;
}
template <>
constexpr DType dtype_of<std::int32_t>() {
    return DType::i32;
}
template <>
constexpr DType dtype_of<std::int64_t>() {
    return DType::i64;
}
template <>
constexpr DType dtype_of<std::uint8_t>() {
    return DType::u8;
}

}  // namespace causeway
