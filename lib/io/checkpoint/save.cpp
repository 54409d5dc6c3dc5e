#include "io/checkpoint/save.hpp"

#include "base/format.hpp"
#include "causeway/error.hpp"
#include "io/real_elements.hpp"
#include "io/safetensors.hpp"

namespace causeway {

void save_checkpoint(const std::string& path, const CheckpointLayout& layout, std::span<const NamedTensor> parameters,
                     DType dtype, double scale) {
    std::vector<TensorToWrite> tensors;
    for (const NamedTensor& parameter : parameters) {
        const TensorView view = parameter.view;
        const std::vector<Piece> pieces = layout.pieces(parameter.name, view.desc.shape);
        if (pieces.empty()) {
            throw IoError(fmt::format("{}: '{}' has no name in the layout {}", path, parameter.name, layout.name));
        }
        for (const Piece& piece : pieces) {
            const StoredMatrix to{dtype, {}, piece.rows, piece.cols, piece.transposed};
            const auto fill = [view, offset = piece.offset, to, scale](std::byte* out) {
                if (view.desc.dtype == DType::f64) {
                    write_matrix(view.as<double>() + offset, scale, to, out);
                } else {
                    write_matrix(view.as<float>() + offset, scale, to, out);
                }
            };
            tensors.push_back({piece.names.front(), TensorDesc(dtype, Shape(piece.stored_shape())), nullptr, fill});
        }
    }
    write_safetensors(path, tensors);
}

}  // namespace causeway
