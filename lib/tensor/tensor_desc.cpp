#include "tensor/tensor_desc.hpp"

#include <array>
#include <string_view>

namespace causeway {

std::string to_string(const TensorDesc& desc) {
    constexpr std::array<std::string_view, 3> layouts{"logical", "packed_nt", "packed_nn"};
    std::string text = std::string(to_string(desc.dtype)) + " " + to_string(desc.shape);
    if (desc.layout != Layout::logical || desc.stored_elements != desc.shape.elements()) {
        text += " " + std::string(layouts[static_cast<std::size_t>(desc.layout)]) + " in " +
                std::to_string(desc.stored_elements) + " elements";
    }
    return text;
}

}  // namespace causeway
