#pragma once

#include <string>

#include "tensor/tensor_desc.hpp"

namespace causeway {

/// A tensor in somebody else's memory with the name it has in files.
struct NamedTensor {
    std::string name;
    TensorView view;
};

}  // namespace causeway
