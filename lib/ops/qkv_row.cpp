#include "ops/qkv_row.hpp"

#include "base/format.hpp"

namespace causeway::ops {

kernels::QkvRow qkv_row(const Attributes& attributes, const Shape& qkv) {
    const kernels::QkvRow row{attributes.get<std::int64_t>("heads"), attributes.get<std::int64_t>("kv_heads"),
                              attributes.get<std::int64_t>("head_dim")};
    require(qkv.rank() == 3 && qkv[2] == row.width(),
            fmt::format("qkv must be (B,T,{}) for {} + 2 x {} heads of {}, found {}", row.width(), row.heads,
                        row.kv_heads, row.head_dim, to_string(qkv)));
    return row;
}

}  // namespace causeway::ops
