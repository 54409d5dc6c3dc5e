#include "kernels/attention/attention_tile.hpp"
#include "kernels/attention/attention_variant.hpp"
#include "kernels/attention/softmax_row.hpp"
#include "kernels/dropout/dropout_row.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

/// Rows and columns of a block of the weights.
constexpr std::int64_t block = 64;
/// Columns of Q, K, V taken at once, so that any head_dim fits the scratch.
constexpr std::int64_t chunk = max_head_dim;

/// One head of a (B,T,H,Dh) tensor: (T, Dh), `stride` between rows.
template <class T>
struct Rows {
    T* data;
    std::int64_t stride;
};

template <class T>
Rows<T> head_of(const HeadsView<T>& view, std::int64_t b, std::int64_t h) {
    return {view.data + b * view.batch_stride + h * view.head_stride, view.token_stride};
}

/// The weights of one head, and what dropout does to them.
struct HeadWeights {
    const AttentionShape& shape;
    const DropoutMask& dropout;
    std::int64_t b, h;
    const Band band;
};

/// weights (Tq,Tk) = factor * q (Tq,Dh) k (Tk,Dh)^T where visible; hidden elements are left as they are.
void score_matrix(const AttentionShape& shape, const Band& band, Rows<const float> q, Rows<const float> k, float factor,
                  float* weights) {
    alignas(64) float k_t[chunk * block];  // (Dh, keys)
    alignas(64) float s[block * block];    // (queries, keys)
    for (std::int64_t j = 0; j < shape.keys; j += block) {
        const std::int64_t keys = least(block, shape.keys - j);
        const std::int64_t begin = band.first_query(j), end = band.end_query(j + keys - 1);
        for (std::int64_t i = begin; i < end; i += block) {
            const std::int64_t rows = least(block, end - i);
            for (std::int64_t d = 0; d < shape.head_dim; d += chunk) {
                const std::int64_t depth = least(chunk, shape.head_dim - d);
                if (i == begin || shape.head_dim > chunk) {
                    pack_transposed(k.data + j * k.stride + d, k.stride, keys, depth, factor, k_t, block);
                }
                multiply<false>(rows, divide_up(keys, lanes), depth, q.data + i * q.stride + d, q.stride, k_t, block, s,
                                block, d == 0 ? Start::zero : Start::add);
            }
            for (std::int64_t r = 0; r < rows; ++r) {
                const std::int64_t seen = most(0, least(keys, band.end_key(i + r) - j));
                float* row = weights + (i + r) * shape.keys + j;
                for (std::int64_t c = most(0, band.first_key(i + r) - j) / lanes * lanes; c < seen; c += lanes) {
                    store_partial(row + c, load(s + r * block + c), least(lanes, seen - c));
                }
            }
        }
    }
}

/// A block of weights as a factor of a product: in place, or with dropout in `scratch` (block, block).
struct WeightBlock {
    const float* data;
    std::int64_t stride;
};

WeightBlock weight_block(const HeadWeights& head, const float* weights, std::int64_t i, std::int64_t rows,
                         std::int64_t j, std::int64_t keys, float* scratch) {
    const float* first = weights + i * head.shape.keys + j;
    if (!head.dropout) return {first, head.shape.keys};
    for (std::int64_t r = 0; r < rows; ++r) {
        drop(head.dropout, head.b, head.h, i + r, j, j + keys, first + r * head.shape.keys, scratch + r * block);
    }
    return {scratch, block};
}

constexpr DropoutMask no_dropout{};

/// out (Tq,Dh) = weights (Tq,Tk), dropped as `head` says, times values (Tk,Dh)
void weighted_sum(const HeadWeights& head, const float* weights, Rows<const float> values, Rows<float> out) {
    alignas(64) float v[block * chunk];
    alignas(64) float sum[block * chunk];
    alignas(64) float scratch[block * block];
    const AttentionShape& shape = head.shape;
    for (std::int64_t d = 0; d < shape.head_dim; d += chunk) {
        const std::int64_t width = least(chunk, shape.head_dim - d);
        const std::int64_t padded = round_up(width, lanes);
        for (std::int64_t i = 0; i < shape.queries; i += block) {
            const std::int64_t rows = least(block, shape.queries - i);
            const std::int64_t end = head.band.end_key(i + rows - 1);
            for (std::int64_t c = 0; c < rows * padded; c += lanes) store(sum + c, Vec(0.0f));
            for (std::int64_t j = head.band.first_key(i) / block * block; j < end; j += block) {
                const std::int64_t keys = least(block, end - j);
                const WeightBlock w = weight_block(head, weights, i, rows, j, keys, scratch);
                pack_rows(values.data + j * values.stride + d, values.stride, keys, width, 1.0f, v, padded);
                multiply<false>(rows, padded / lanes, keys, w.data, w.stride, v, padded, sum, padded, Start::add);
            }
            for (std::int64_t r = 0; r < rows; ++r) {
                float* row = out.data + (i + r) * out.stride + d;
                for (std::int64_t c = 0; c < width; c += lanes) {
                    store_partial(row + c, load(sum + r * padded + c), least(lanes, width - c));
                }
            }
        }
    }
}

/// out (Tk,Dh) = weights (Tq,Tk)^T, dropped as `head` says, times values (Tq,Dh), or += that.
void transposed_sum(const HeadWeights& head, const float* weights, Rows<const float> values, Rows<float> out,
                    bool accumulate) {
    alignas(64) float v[block * chunk];
    alignas(64) float sum[block * chunk];
    alignas(64) float scratch[block * block];
    const AttentionShape& shape = head.shape;
    for (std::int64_t d = 0; d < shape.head_dim; d += chunk) {
        const std::int64_t width = least(chunk, shape.head_dim - d);
        const std::int64_t padded = round_up(width, lanes);
        for (std::int64_t j = 0; j < shape.keys; j += block) {
            const std::int64_t keys = least(block, shape.keys - j);
            for (std::int64_t c = 0; c < keys * padded; c += lanes) store(sum + c, Vec(0.0f));
            const std::int64_t end = head.band.end_query(j + keys - 1);
            for (std::int64_t i = head.band.first_query(j); i < end; i += block) {
                const std::int64_t rows = least(block, end - i);
                const WeightBlock w = weight_block(head, weights, i, rows, j, keys, scratch);
                pack_rows(values.data + i * values.stride + d, values.stride, rows, width, 1.0f, v, padded);
                multiply<true>(keys, padded / lanes, rows, w.data, w.stride, v, padded, sum, padded, Start::add);
            }
            for (std::int64_t r = 0; r < keys; ++r) {
                float* row = out.data + (j + r) * out.stride + d;
                for (std::int64_t c = 0; c < width; c += lanes) {
                    const std::int64_t n = least(lanes, width - c);
                    const Vec part = load(sum + r * padded + c);
                    store_partial(row + c, accumulate ? load_partial(row + c, n) + part : part, n);
                }
            }
        }
    }
}

std::int64_t explicit_tiles(const AttentionShape& shape) { return shape.batch * shape.heads; }
std::int64_t explicit_backward_tiles(const AttentionShape& shape) { return shape.batch * shape.kv_heads; }

/// A tile is one (b, h).
void explicit_forward(const ExplicitAttentionArgs<float>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    const AttentionShape& shape = args.shape;
    for (std::int64_t t = tile_begin; t < tile_end; ++t) {
        const std::int64_t b = t / shape.heads, h = t % shape.heads;
        const std::int64_t kv_head = h / (shape.heads / shape.kv_heads);
        const HeadWeights head{shape, args.variant.dropout, b, h, band_of(shape)};
        const HeadVariant variant = head_variant(args.variant, shape, b, h, 1.0f);
        float* weights = args.weights + t * shape.queries * shape.keys;
        score_matrix(shape, head.band, head_of(args.q, b, h), head_of(args.k, b, kv_head),
                     static_cast<float>(shape.scale), weights);
        for (std::int64_t i = 0; i < shape.queries; ++i) {
            float* row = weights + i * shape.keys;
            const std::int64_t end = head.band.end_key(i), first = least(head.band.first_key(i), end);
            if (variant.adjusts()) adjust_row(variant, i, first, end - first, row + first);
            softmax_row(row + first, row + first, end - first);
            for (std::int64_t j = 0; j < first; ++j) row[j] = 0.0f;
            for (std::int64_t j = end; j < shape.keys; ++j) row[j] = 0.0f;
        }
        weighted_sum(head, weights, head_of(args.v, b, kv_head), head_of(args.out, b, h));
    }
}

/// dS = scale P o (dP - rowsum(P o dP)), 0 where hidden; dP, before dropout, is found in its place.
void score_gradient(const HeadWeights& head, const float* weights, float* dscores) {
    const AttentionShape& shape = head.shape;
    const Vec scale(static_cast<float>(shape.scale));
    for (std::int64_t i = 0; i < shape.queries; ++i) {
        const float* p = weights + i * shape.keys;
        float* ds = dscores + i * shape.keys;
        const std::int64_t end = head.band.end_key(i), first = least(head.band.first_key(i), end);
        for (std::int64_t j = 0; j < first; ++j) ds[j] = 0.0f;
        if (head.dropout) drop(head.dropout, head.b, head.h, i, 0, end, ds, ds);
        const Vec delta(row_dot(p + first, ds + first, end - first));
        for (std::int64_t j = first; j < end; j += lanes) {
            const std::int64_t n = least(lanes, end - j);
            store_partial(ds + j, scale * load_partial(p + j, n) * (load_partial(ds + j, n) - delta), n);
        }
        for (std::int64_t j = end; j < shape.keys; ++j) ds[j] = 0.0f;
    }
}

/// A tile is one (b, kv head) with all its query heads.
void explicit_backward(const ExplicitAttentionBackwardArgs<float>& args, std::int64_t tile_begin,
                       std::int64_t tile_end) {
    const AttentionShape& shape = args.shape;
    const std::int64_t share = shape.heads / shape.kv_heads;
    const Band band = band_of(shape);
    for (std::int64_t t = tile_begin; t < tile_end; ++t) {
        const std::int64_t b = t / shape.kv_heads, kv_head = t % shape.kv_heads;
        for (std::int64_t h = kv_head * share; h < (kv_head + 1) * share; ++h) {
            const std::int64_t at = (b * shape.heads + h) * shape.queries * shape.keys;
            const HeadWeights head{shape, args.variant.dropout, b, h, band}, scores{shape, no_dropout, b, h, band};
            const float* weights = args.weights + at;
            float* dscores = args.dscores + at;
            const bool accumulate = h > kv_head * share;
            score_matrix(shape, band, head_of(args.dout, b, h), head_of(args.v, b, kv_head), 1.0f, dscores);
            score_gradient(head, weights, dscores);
            weighted_sum(scores, dscores, head_of(args.k, b, kv_head), head_of(args.dq, b, h));
            transposed_sum(scores, dscores, head_of(args.q, b, h), head_of(args.dk, b, kv_head), accumulate);
            transposed_sum(head, weights, head_of(args.dout, b, h), head_of(args.dv, b, kv_head), accumulate);
        }
    }
}

}  // namespace

void add_explicit_attention(KernelTable<float>& table) {
    table.attention.explicit_tiles = explicit_tiles;
    table.attention.explicit_forward = explicit_forward;
    table.attention.explicit_backward_tiles = explicit_backward_tiles;
    table.attention.explicit_backward = explicit_backward;
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
