#include "io/safetensors_dtype.hpp"

#include <array>

#include "base/format.hpp"
#include "causeway/error.hpp"

namespace causeway {
namespace {

constexpr std::array known_dtypes{
    SafetensorsDtype{"BOOL", 1, std::nullopt, 0},    SafetensorsDtype{"U8", 1, DType::u8, 1},
    SafetensorsDtype{"I8", 1, std::nullopt, 2},      SafetensorsDtype{"F8_E5M2", 1, std::nullopt, 3},
    SafetensorsDtype{"F8_E4M3", 1, std::nullopt, 4}, SafetensorsDtype{"F8_E8M0", 1, std::nullopt, 5},
    SafetensorsDtype{"I16", 2, std::nullopt, 6},     SafetensorsDtype{"U16", 2, std::nullopt, 7},
    SafetensorsDtype{"F16", 2, DType::f16, 8},       SafetensorsDtype{"BF16", 2, DType::bf16, 9},
    SafetensorsDtype{"I32", 4, DType::i32, 10},      SafetensorsDtype{"U32", 4, std::nullopt, 11},
    SafetensorsDtype{"F32", 4, DType::f32, 12},      SafetensorsDtype{"F64", 8, DType::f64, 13},
    SafetensorsDtype{"I64", 8, DType::i64, 14},      SafetensorsDtype{"U64", 8, std::nullopt, 15},
};

}  // namespace

const SafetensorsDtype* find_safetensors_dtype(std::string_view name) {
    for (const SafetensorsDtype& known : known_dtypes) {
        if (known.name == name) return &known;
    }
    return nullptr;
}

const SafetensorsDtype& safetensors_dtype(DType dtype) {
    for (const SafetensorsDtype& known : known_dtypes) {
        if (known.dtype == dtype) return known;
    }
    throw GraphError(fmt::format("safetensors has no name for dtype {}", to_string(dtype)));
}

}  // namespace causeway
