#include "kernels/attention/attention_tile.hpp"
#include "kernels/attention/attention_variant.hpp"
#include "kernels/dropout/dropout_row.hpp"
#include "kernels/families.hpp"

// Attention of a single query over a past, as decoding asks for. A tile with queries in its lanes would leave all but
// one empty; here keys and head_dim fill them, and K and V are streamed once.

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

constexpr float infinity = __builtin_inff();
constexpr std::int64_t key_block = 64;

struct DecodeTile {
    alignas(64) float q[max_head_dim];              ///< times scale * log2(e), padded with zeros
    alignas(64) float out[max_head_dim];            ///< padded
    alignas(64) float s[key_block];                 ///< scores, then weights; 0 beyond the block
    alignas(64) float v[key_block * max_head_dim];  ///< padded rows of V, when head_dim is no multiple of `lanes`
    alignas(64) float alpha[max_head_dim];          ///< the correction of the maximum, in every lane
};

/// Scores of n <= lanes keys in the lanes, 0 beyond: one dot product a vector, then a transposition to add across.
Vec key_scores(const float* q, const float* k, std::int64_t stride, std::int64_t n, std::int64_t dim) {
    Vec x[lanes];
    for (std::int64_t l = 0; l < lanes; ++l) {
        Vec sum(0.0f);
        if (l < n) {
            const float* row = k + l * stride;
            std::int64_t c = 0;
            for (; c + lanes <= dim; c += lanes) sum = xsimd::fma(load(q + c), load(row + c), sum);
            if (c < dim) sum = xsimd::fma(load(q + c), load_partial(row + c, dim - c), sum);
        }
        x[l] = sum;
    }
    transpose(x);
#pragma GCC unroll 4
    for (std::int64_t half = lanes / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
        for (std::int64_t l = 0; l < half; ++l) x[l] = x[l] + x[l + half];
    }
    return x[0];
}

/// Scores of keys [0, n), n <= key_block, hidden beyond; returns the largest.
float block_scores(DecodeTile& tile, const float* k, std::int64_t stride, std::int64_t n, std::int64_t dim) {
    const Vec lane = lane_index();
    Vec top(-infinity);
    for (std::int64_t j = 0; j < key_block; j += lanes) {
        Vec s(-infinity);
        if (j < n) {
            s = key_scores(tile.q, k + j * stride, stride, least(lanes, n - j), dim);
            s = xsimd::select(lane < Vec(static_cast<float>(n - j)), s, Vec(-infinity));
        }
        store(tile.s + j, s);
        top = xsimd::max(top, s);
    }
    return reduce_max(top);
}

/// Scores of keys [j, j + n) after what the variant and a window that begins at key `first` make of them; returns the
/// largest.
float adjusted_scores(DecodeTile& tile, const HeadVariant& variant, std::int64_t first, std::int64_t j,
                      std::int64_t n) {
    adjust_row(variant, 0, j, n, tile.s);
    for (std::int64_t c = 0; c < least(n, first - j); ++c) tile.s[c] = -infinity;
    Vec top(-infinity);
    for (std::int64_t c = 0; c < key_block; c += lanes) top = xsimd::max(top, load(tile.s + c));
    return reduce_max(top);
}

/// Scores become weights relative to 2^base; returns their sum.
float block_weights(DecodeTile& tile, float base) {
    Vec sum(0.0f);
    for (std::int64_t j = 0; j < key_block; j += lanes) {
        const Vec p = exp2_nonpositive(load(tile.s + j) - Vec(base));
        store(tile.s + j, p);
        sum = sum + p;
    }
    return reduce_add(sum);
}

/// out = alpha out + weights V over keys [0, n).
void block_output(DecodeTile& tile, const float* v, std::int64_t stride, std::int64_t n, std::int64_t dim,
                  float alpha) {
    const std::int64_t padded = round_up(dim, lanes);
    for (std::int64_t c = 0; c < padded; c += lanes) store(tile.alpha + c, Vec(alpha));
    if (padded != dim) {
        pack_rows(v, stride, n, dim, 1.0f, tile.v, padded);
        v = tile.v;
        stride = padded;
    }
    multiply_rows<false>(1, padded / lanes, n, tile.s, key_block, v, stride, tile.out, padded, Start::scale,
                         tile.alpha);
}

}  // namespace

void decode_query(const AttentionForwardArgs<float>& args, std::int64_t b, std::int64_t h) {
    DecodeTile tile;
    const AttentionShape& shape = args.shape;
    const std::int64_t dim = shape.head_dim;
    const std::int64_t kv_head = h / (shape.heads / shape.kv_heads);
    const Band band = band_of(shape);
    const HeadVariant variant = head_variant(args.variant, shape, b, h, static_cast<float>(log2_e));
    const float* q = args.q.data + b * args.q.batch_stride + h * args.q.head_stride;
    const float* k = args.k.data + b * args.k.batch_stride + kv_head * args.k.head_stride;
    const float* v = args.v.data + b * args.v.batch_stride + kv_head * args.v.head_stride;
    pack_rows(q, args.q.token_stride, 1, dim, static_cast<float>(shape.scale * log2_e), tile.q, dim);
    for (std::int64_t c = 0; c < dim; c += lanes) store(tile.out + c, Vec(0.0f));
    float max = -infinity, sum = 0;
    const std::int64_t first = band.first_key(0), end = band.end_key(0);
    for (std::int64_t j = first / key_block * key_block; j < end; j += key_block) {
        const std::int64_t n = least(key_block, end - j);
        float top = block_scores(tile, k + j * args.k.token_stride, args.k.token_stride, n, dim);
        if (variant.adjusts() || first > j) top = adjusted_scores(tile, variant, first, j, n);
        const float after = top > max ? top : max;
        const float base = after == -infinity ? 0.0f : after;
        float alpha[lanes];
        store(alpha, exp2_nonpositive(Vec(max - base)));
        sum = sum * alpha[0] + block_weights(tile, base);
        max = after;
        if (args.variant.dropout) drop(args.variant.dropout, b, h, 0, j, j + n, tile.s, tile.s);
        block_output(tile, v + j * args.v.token_stride, args.v.token_stride, n, dim, alpha[0]);
    }
    const bool empty = sum == 0.0f;  // no visible key
    const Vec factor(empty ? 0.0f : 1.0f / sum);
    float* out = args.out.data + b * args.out.batch_stride + h * args.out.head_stride;
    for (std::int64_t c = 0; c < dim; c += lanes) {
        store_partial(out + c, load(tile.out + c) * factor, least(lanes, dim - c));
    }
    if (args.lse) {
        const float lse = max * ln_2 + __builtin_logf(sum);
        args.lse[b * shape.heads + h] = empty ? -infinity : lse;
    }
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
