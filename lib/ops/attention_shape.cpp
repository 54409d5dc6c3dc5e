#include "ops/attention_shape.hpp"

#include "base/format.hpp"
#include "kernels/attention/attention_flops.hpp"

namespace causeway::ops {

kernels::AttentionShape attention_shape(const Attributes& attributes, const Shape& qkv) {
    kernels::AttentionShape shape;
    shape.heads = attributes.get<std::int64_t>("heads");
    shape.kv_heads = attributes.get<std::int64_t>("kv_heads");
    shape.head_dim = attributes.get<std::int64_t>("head_dim");
    shape.scale = attributes.get<double>("scale");
    shape.causal = attributes.get<bool>("causal");
    shape.window = attributes.has("window") ? attributes.get<std::int64_t>("window") : 0;
    require(shape.window >= 0, fmt::format("window is {}, expected 0 (none) or more", shape.window));
    require(shape.heads > 0 && shape.kv_heads > 0 && shape.heads % shape.kv_heads == 0,
            fmt::format("{} query heads cannot share {} key heads", shape.heads, shape.kv_heads));
    const std::int64_t width = (shape.heads + 2 * shape.kv_heads) * shape.head_dim;
    require(qkv.rank() == 3 && qkv[2] == width,
            fmt::format("qkv must be (B,T,{}) for {} + 2 x {} heads of {}, found {}", width, shape.heads,
                        shape.kv_heads, shape.head_dim, to_string(qkv)));
    shape.batch = qkv[0];
    shape.queries = shape.keys = qkv[1];
    return shape;
}

void require_cache(const Graph& graph, const Node& node) {
    const kernels::AttentionShape shape = attention_shape(node.attributes, input_desc(graph, node, 0).shape);
    for (const std::size_t i : {1, 2}) {
        const TensorDesc& cache = input_desc(graph, node, i);
        require(cache.dtype == input_desc(graph, node, 0).dtype && cache.shape.rank() == 4 &&
                    cache.shape[0] == shape.batch && cache.shape[1] == shape.kv_heads && cache.shape[2] > 0 &&
                    cache.shape[3] == shape.head_dim,
                fmt::format("the cache must be ({},{},C,{}), found {}", shape.batch, shape.kv_heads, shape.head_dim,
                            shape_text(graph, node, i)));
    }
    require_row_counts(graph, node, 3, shape.batch);
    require_row_counts(graph, node, 4, shape.batch);
}

Cost attention_cost(const Graph& graph, const Node& node, double products) {
    Cost cost = streaming_cost(graph, node, 0);
    const kernels::AttentionShape shape = attention_shape(node.attributes, graph.shape(node.input(0)));
    cost.flops = products * kernels::attention_product_flops(shape);
    return cost;
}

}  // namespace causeway::ops
