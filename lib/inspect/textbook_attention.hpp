#pragma once

#include <cstdint>
#include <vector>

#include "config/config.hpp"
#include "inspect/attention_mask.hpp"

namespace causeway {

/// One attention layer of a forward pass, as plain vectors.
struct AttentionLayer {
    std::vector<float> qkv;      ///< (B,T,(H + 2 Hkv) Dh)
    std::vector<float> heads;    ///< (B,T,H Dh)
    std::vector<float> weights;  ///< (B,H,T,T); empty on the tiled path
};

/// Where q, k and v of a head lie in the fused (B,T,(H + 2 Hkv) Dh).
struct QkvIndex {
    std::int64_t length, heads, kv_heads, head_dim;

    std::int64_t row(std::int64_t b, std::int64_t t) const {
        return (b * length + t) * (heads + 2 * kv_heads) * head_dim;
    }
    std::int64_t kv_head(std::int64_t h) const { return h / (heads / kv_heads); }
    std::size_t q(std::int64_t b, std::int64_t t, std::int64_t h) const {
        return static_cast<std::size_t>(row(b, t) + h * head_dim);
    }
    std::size_t k(std::int64_t b, std::int64_t t, std::int64_t h) const {
        return static_cast<std::size_t>(row(b, t) + (heads + kv_head(h)) * head_dim);
    }
    std::size_t v(std::int64_t b, std::int64_t t, std::int64_t h) const {
        return static_cast<std::size_t>(row(b, t) + (heads + kv_heads + kv_head(h)) * head_dim);
    }
};

/// Who sees whom, and what becomes of the scores: what a config and a mask say of attention.
struct AttentionRule {
    /// `mask` may be null and must outlive the rule.
    AttentionRule(const ModelConfig& model, const AttentionMask* mask);

    bool sees(std::int64_t b, std::int64_t h, std::int64_t query, std::int64_t key) const;
    float bias(std::int64_t h, std::int64_t query, std::int64_t key) const;

    double scale;
    bool causal;
    std::int64_t window;         ///< 0: none
    std::vector<double> slopes;  ///< (H) of ALiBi; empty without
    const AttentionMask* mask;
};

/// softmax(scale q k^T + bias) v evaluated in float in the textbook's order: dot products from the first element to the
/// last, the largest score of a row subtracted, exponentials summed from the first key to the last, then divided. A
/// query that sees nothing gets 0.
AttentionLayer textbook_attention(const std::vector<float>& qkv, const QkvIndex& at, std::int64_t batch,
                                  const AttentionRule& rule);

}  // namespace causeway
