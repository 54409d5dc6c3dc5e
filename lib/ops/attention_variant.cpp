#include "ops/attention_variant.hpp"

#include "base/format.hpp"

namespace causeway::ops {

void check_attention_inputs(const Graph& graph, const Node& node, std::size_t first,
                            const kernels::AttentionShape& shape) {
    const auto given = [&](std::size_t i) { return static_cast<bool>(node.input(first + i)); };
    if (given(0)) {
        const TensorDesc& mask = input_desc(graph, node, first);
        const std::size_t rank = mask.shape.rank();
        const bool fits = (rank == 2 || (rank == 4 && (mask.shape[0] == 1 || mask.shape[0] == shape.batch) &&
                                         (mask.shape[1] == 1 || mask.shape[1] == shape.heads))) &&
                          mask.shape[rank - 2] >= shape.queries && mask.shape[rank - 1] >= shape.keys;
        require(mask.dtype == DType::u8 && fits,
                fmt::format("mask must be u8 ({0},{1}) or (1 or {2},1 or {3},{0},{1}), or larger in the last two, "
                            "found {4} {5}",
                            shape.queries, shape.keys, shape.batch, shape.heads, to_string(mask.dtype),
                            shape_text(graph, node, first)));
    }
    if (given(1)) {
        const TensorDesc& desc = input_desc(graph, node, first + 1);
        require(desc.dtype == DType::i32 && desc.shape == Shape({shape.batch, shape.keys}),
                fmt::format("key_mask must be i32 ({},{}), found {} {}", shape.batch, shape.keys, to_string(desc.dtype),
                            shape_text(graph, node, first + 1)));
    }
}

kernels::MaskView mask_strides(const Shape& mask) {
    const std::size_t rank = mask.rank();
    const std::int64_t matrix = mask[rank - 2] * mask[rank - 1];
    kernels::MaskView view;
    view.query_stride = mask[rank - 1];
    if (rank == 4) {
        view.head_stride = mask[1] == 1 ? 0 : matrix;
        view.batch_stride = mask[0] == 1 ? 0 : mask[1] * matrix;
    }
    return view;
}

}  // namespace causeway::ops
