#include "inspect/textbook_attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/alibi.hpp"

namespace causeway {
namespace {

/// One query of one head.
void textbook_query(AttentionLayer& layer, const QkvIndex& at, const AttentionRule& rule, std::int64_t b,
                    std::int64_t h, std::int64_t t) {
    const std::vector<float>& qkv = layer.qkv;
    const std::int64_t length = at.length, dim = at.head_dim;
    float* row = layer.weights.data() + ((b * at.heads + h) * length + t) * length;
    float* out = layer.heads.data() + ((b * length + t) * at.heads + h) * dim;
    float largest = -std::numeric_limits<float>::infinity();
    for (std::int64_t s = 0; s < length; ++s) {
        if (!rule.sees(b, h, t, s)) continue;
        float sum = 0;
        for (std::int64_t d = 0; d < dim; ++d) {
            const auto offset = static_cast<std::size_t>(d);
            sum += qkv[at.q(b, t, h) + offset] * qkv[at.k(b, s, h) + offset];
        }
        row[s] = static_cast<float>(rule.scale) * sum;
        if (!rule.slopes.empty()) row[s] += rule.bias(h, t, s);
        largest = std::max(largest, row[s]);
    }
    float total = 0;
    for (std::int64_t s = 0; s < length; ++s) {
        if (rule.sees(b, h, t, s)) total += row[s] = std::exp(row[s] - largest);
    }
    for (std::int64_t s = 0; s < length; ++s) {
        if (!rule.sees(b, h, t, s)) continue;
        row[s] /= total;
        for (std::int64_t d = 0; d < dim; ++d) out[d] += row[s] * qkv[at.v(b, s, h) + static_cast<std::size_t>(d)];
    }
}

}  // namespace

AttentionRule::AttentionRule(const ModelConfig& model, const AttentionMask* its_mask)
    : scale(model.attention_scale > 0 ? model.attention_scale : 1 / std::sqrt(static_cast<double>(model.head_dim))),
      causal(model.causal),
      window(model.sliding_window),
      mask(its_mask) {
    if (model.position_embedding == PositionKind::alibi) slopes = alibi_slopes(model.num_attention_heads);
}

bool AttentionRule::sees(std::int64_t b, std::int64_t h, std::int64_t query, std::int64_t key) const {
    if (causal && key > query) return false;
    if (window > 0 && (causal ? key <= query - window : std::abs(query - key) > window)) return false;
    return mask == nullptr || mask->sees(b, h, query, key);
}

float AttentionRule::bias(std::int64_t h, std::int64_t query, std::int64_t key) const {
    if (slopes.empty()) return 0;
    return -static_cast<float>(slopes[static_cast<std::size_t>(h)]) * static_cast<float>(std::abs(query - key));
}

AttentionLayer textbook_attention(const std::vector<float>& qkv, const QkvIndex& at, std::int64_t batch,
                                  const AttentionRule& rule) {
    AttentionLayer layer{qkv, {}, {}};
    layer.heads.assign(static_cast<std::size_t>(batch * at.length * at.heads * at.head_dim), 0.0f);
    layer.weights.assign(static_cast<std::size_t>(batch * at.heads * at.length * at.length), 0.0f);
    for (std::int64_t b = 0; b < batch; ++b) {
        for (std::int64_t h = 0; h < at.heads; ++h) {
            for (std::int64_t t = 0; t < at.length; ++t) textbook_query(layer, at, rule, b, h, t);
        }
    }
    return layer;
}

}  // namespace causeway
