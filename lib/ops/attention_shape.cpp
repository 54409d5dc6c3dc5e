#include "ops/attention_shape.hpp"

#include <fmt/format.h>

namespace causeway::ops {

kernels::AttentionShape attention_shape(const Attributes& attributes, const Shape& qkv) {
    kernels::AttentionShape shape;
    shape.heads = attributes.get<std::int64_t>("heads");
    shape.kv_heads = attributes.get<std::int64_t>("kv_heads");
    shape.head_dim = attributes.get<std::int64_t>("head_dim");
    shape.scale = attributes.get<double>("scale");
    shape.causal = attributes.get<bool>("causal");
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

double attention_product_flops(const kernels::AttentionShape& shape) {
    const double t = static_cast<double>(shape.queries);
    const double pairs = shape.causal ? t * (t + 1) / 2 : t * t;
    return 2.0 * static_cast<double>(shape.batch * shape.heads * shape.head_dim) * pairs;
}

}  // namespace causeway::ops
