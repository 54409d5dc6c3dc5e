#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "tensor/dtype.hpp"

namespace causeway {

/// An element type of the safetensors format.
struct SafetensorsDtype {
    std::string_view name;
    std::size_t size = 0;        ///< bytes an element
    std::optional<DType> dtype;  ///< Causeway's own, if it has one
    int rank = 0;                ///< the format's reference writer puts higher ranks first
};

/// nullptr when the format has no such name.
const SafetensorsDtype* find_safetensors_dtype(std::string_view name);
const SafetensorsDtype& safetensors_dtype(DType dtype);

}  // namespace causeway
