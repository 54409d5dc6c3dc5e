#include "kernels/attention/attention_tile.hpp"
#include "kernels/attention/attention_variant.hpp"
#include "kernels/dropout/dropout_row.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

constexpr float infinity = __builtin_inff();

/// Queries of a tile: enough to use each block of K and V several times from L1, few enough that a short sequence still
/// gives several tiles.
constexpr std::int64_t query_block = 64;
/// Keys between two corrections of the running maximum: K and V blocks of head_dim 64 take 16 KiB each.
constexpr std::int64_t key_block = 64;
constexpr std::int64_t groups = query_block / pair;

/// Everything is held transposed, queries in the lanes: scores, maxima and sums then need no step across lanes, and K
/// and V are read in place, an element at a time. A group is `pair` queries.
struct ForwardTile {
    alignas(64) float q[groups][max_head_dim * pair];  ///< (Dh, pair): Q^T times scale * log2(e)
    alignas(64) float out[groups][max_head_dim * pair];
    alignas(64) float s[key_block * pair];  ///< (keys, pair): S^T, then P^T
    alignas(64) float max[query_block];     ///< running maximum, in powers of 2
    alignas(64) float sum[query_block];
    alignas(64) float alpha[query_block];
    alignas(64) float factors[pair * key_block];    ///< (queries, keys) of dropout
    alignas(64) float factors_t[key_block * pair];  ///< (keys, pair): the same
    bool prefetch;  ///< K and V of a head do not stay in L2 between two blocks of queries
};

/// Rows [0, n) of S^T, one vector wide, become P^T. Lane l sees rows below `limit` + l.
void softmax_columns(float* s, std::int64_t n, std::int64_t limit, bool first, float* max, float* sum, float* alpha) {
    const Vec hidden(-infinity);
    const std::int64_t clear = most(0, least(n, limit));  // rows every lane sees
    Vec top[4] = {hidden, hidden, hidden, hidden};
    std::int64_t j = 0;
    for (; j + 4 <= clear; j += 4) {
#pragma GCC unroll 4
        for (int u = 0; u < 4; ++u) top[u] = xsimd::max(top[u], load(s + (j + u) * pair));
    }
    for (; j < clear; ++j) top[0] = xsimd::max(top[0], load(s + j * pair));
    if (j < n) {
        const Vec lane = lane_index();
        for (; j < n; ++j) {
            const Vec visible = xsimd::select(lane > Vec(static_cast<float>(j - limit)), load(s + j * pair), hidden);
            store(s + j * pair, visible);
            top[0] = xsimd::max(top[0], visible);
        }
    }
    const Vec before = first ? hidden : load(max);
    const Vec after = xsimd::max(before, xsimd::max(xsimd::max(top[0], top[1]), xsimd::max(top[2], top[3])));
    const Vec base = xsimd::select(after == hidden, Vec(0.0f), after);  // a lane that has seen nothing yet
    const Vec correction = exp2_nonpositive(before - base);
    Vec total[4] = {first ? Vec(0.0f) : load(sum) * correction, Vec(0.0f), Vec(0.0f), Vec(0.0f)};
    for (j = 0; j + 4 <= n; j += 4) {
#pragma GCC unroll 4
        for (int u = 0; u < 4; ++u) {
            const Vec p = exp2_nonpositive(load(s + (j + u) * pair) - base);
            store(s + (j + u) * pair, p);
            total[u] = total[u] + p;
        }
    }
    for (; j < n; ++j) {
        const Vec p = exp2_nonpositive(load(s + j * pair) - base);
        store(s + j * pair, p);
        total[0] = total[0] + p;
    }
    store(max, after);
    store(sum, (total[0] + total[1]) + (total[2] + total[3]));
    store(alpha, correction);
}

/// One head of one sequence.
struct ForwardHead {
    const AttentionForwardArgs<float>& args;
    std::int64_t b, h;
    const float *q, *k, *v;  ///< their first rows
    Band band;
    HeadVariant variant;
};

/// Multiplies rows [0, n) of P^T, those of the queries [i, i + rows) against keys from j, with dropout's factors. The
/// sums of the softmax have been taken before.
void drop_weights(const ForwardHead& head, ForwardTile& tile, std::int64_t i, std::int64_t rows, std::int64_t j,
                  std::int64_t both, std::int64_t all) {
    for (std::int64_t r = 0; r < rows; ++r) {
        dropout_factors(head.args.variant.dropout, head.b, head.h, i + r, j, j + all, tile.factors + r * key_block);
    }
    pack_transposed(tile.factors, key_block, rows, all, 1.0f, tile.factors_t, pair);
    for (std::int64_t r = 0; r < all; ++r) {
        for (std::int64_t c = r < both ? 0 : lanes; c < rows; c += lanes) {
            const std::int64_t at = r * pair + c;
            store(tile.s + at, load(tile.s + at) * load(tile.factors_t + at));
        }
    }
}

/// A group of queries [i, i + rows), rows <= pair, against keys [j, j + key_block).
void group_step(const ForwardHead& head, ForwardTile& tile, std::int64_t group, std::int64_t i, std::int64_t rows,
                std::int64_t j) {
    const AttentionForwardArgs<float>& args = head.args;
    const Band& band = head.band;
    const std::int64_t dim = args.shape.head_dim;
    const std::int64_t vecs = rows > lanes ? 2 : 1;
    // Keys that the last query of each vector sees: both vectors take `both` keys, the second alone some more.
    const std::int64_t both = most(0, least(key_block, band.end_key(i + least(rows, lanes) - 1) - j));
    const std::int64_t all = vecs == 2 ? most(0, least(key_block, band.end_key(i + rows - 1) - j)) : both;
    const std::int64_t first_key = band.first_key(i);
    if (all == 0 || j + key_block <= first_key) return;
    const bool first = j <= first_key;
    const float *k = head.k + j * args.k.token_stride, *v = head.v + j * args.v.token_stride;
    float* s = tile.s;
    const std::int64_t ahead = key_block + group * pair;  // a share of the next block's rows
    const std::int64_t ahead_end = tile.prefetch ? least(ahead + pair, args.shape.keys - j) : 0;
    for (std::int64_t n = ahead; n < ahead_end; ++n) prefetch_row(k + n * args.k.token_stride, dim);
    multiply<false>(both, vecs, dim, k, args.k.token_stride, tile.q[group], pair, s, pair, Start::zero);
    multiply<false>(all - both, 1, dim, k + both * args.k.token_stride, args.k.token_stride, tile.q[group] + lanes,
                    pair, s + both * pair + lanes, pair, Start::zero);
    for (std::int64_t vec = 0; vec < vecs; ++vec) {
        const std::int64_t at = group * pair + vec * lanes;
        const std::int64_t n = vec == 0 ? both : all;
        const std::int64_t query = i + vec * lanes;  // of lane 0
        float* column = s + vec * lanes;
        if (head.variant.adjusts()) {
            adjust_columns(head.variant, query, least(lanes, rows - vec * lanes), j, n, column, pair);
        }
        if (query + lanes - 1 + band.first > j) hide_before(query + band.first - j, n, column, pair);
        softmax_columns(column, n, query + band.end - j, first, tile.max + at, tile.sum + at, tile.alpha + at);
    }
    if (args.variant.dropout) drop_weights(head, tile, i, rows, j, both, all);
    for (std::int64_t n = ahead; n < ahead_end; ++n) prefetch_row(v + n * args.v.token_stride, dim);
    float* out = tile.out[group];
    multiply<true>(dim, vecs, both, v, args.v.token_stride, s, pair, out, pair, first ? Start::zero : Start::scale,
                   tile.alpha + group * pair);
    if (all > both) {
        multiply<true>(dim, 1, all - both, v + both * args.v.token_stride, args.v.token_stride, s + both * pair + lanes,
                       pair, out + lanes, pair, Start::add);
    }
}

/// Divides by the sums and writes a group's output and log-sum-exp.
void finish_group(const AttentionForwardArgs<float>& args, ForwardTile& tile, std::int64_t group, std::int64_t b,
                  std::int64_t h, std::int64_t i, std::int64_t rows) {
    const AttentionShape& shape = args.shape;
    float* sum = tile.sum + group * pair;
    float* max = tile.max + group * pair;
    for (std::int64_t r = 0; r < rows; r += lanes) {
        const Vec total = load(sum + r);
        const auto empty = total == Vec(0.0f);  // no visible key
        const Vec log = xsimd::fma(load(max + r), Vec(ln_2), xsimd::log(total));
        const Vec lse = xsimd::select(empty, Vec(-infinity), log);
        store(sum + r, xsimd::select(empty, Vec(0.0f), Vec(1.0f) / total));
        if (args.lse) {
            float* to = args.lse + (b * shape.heads + h) * shape.queries + i + r;
            if (r + lanes <= rows) {
                store(to, lse);
            } else {
                store_partial(to, lse, rows - r);
            }
        }
    }
    unpack_transposed(tile.out[group], pair, rows, shape.head_dim, sum,
                      args.out.data + b * args.out.batch_stride + i * args.out.token_stride + h * args.out.head_stride,
                      args.out.token_stride);
}

/// Queries that see no key at all.
void clear_group(const AttentionForwardArgs<float>& args, ForwardTile& tile, std::int64_t group) {
    for (std::int64_t r = 0; r < pair; r += lanes) {
        store(tile.max + group * pair + r, Vec(-infinity));
        store(tile.sum + group * pair + r, Vec(0.0f));
    }
    for (std::int64_t c = 0; c < args.shape.head_dim * pair; c += lanes) store(tile.out[group] + c, Vec(0.0f));
}

ForwardHead forward_head(const AttentionForwardArgs<float>& args, std::int64_t b, std::int64_t h) {
    const AttentionShape& shape = args.shape;
    const std::int64_t kv_head = h / (shape.heads / shape.kv_heads);
    return {args,
            b,
            h,
            args.q.data + b * args.q.batch_stride + h * args.q.head_stride,
            args.k.data + b * args.k.batch_stride + kv_head * args.k.head_stride,
            args.v.data + b * args.v.batch_stride + kv_head * args.v.head_stride,
            band_of(shape),
            head_variant(args.variant, shape, b, h, static_cast<float>(log2_e))};
}

/// Queries [i, i + rows) of head h of sequence b.
void forward_block(const AttentionForwardArgs<float>& args, std::int64_t b, std::int64_t h, std::int64_t i,
                   std::int64_t rows) {
    ForwardTile tile;
    const AttentionShape& shape = args.shape;
    const ForwardHead head = forward_head(args, b, h);
    const Band& band = head.band;
    tile.prefetch = exceeds_l2(shape);
    const float factor = static_cast<float>(shape.scale * log2_e);
    for (std::int64_t group = 0; group * pair < rows; ++group) {
        const std::int64_t r = group * pair, last = i + least(rows, r + pair) - 1;
        pack_transposed(head.q + (i + r) * args.q.token_stride, args.q.token_stride, least(pair, rows - r),
                        shape.head_dim, factor, tile.q[group], pair);
        if (band.end_key(last) <= band.first_key(i + r)) clear_group(args, tile, group);
    }
    const std::int64_t begin = band.first_key(i) / key_block * key_block, end = band.end_key(i + rows - 1);
    for (std::int64_t j = begin; j < end; j += key_block) {
        for (std::int64_t r = 0; r < rows; r += pair) {
            group_step(head, tile, r / pair, i + r, least(pair, rows - r), j);
        }
    }
    for (std::int64_t r = 0; r < rows; r += pair) {
        finish_group(args, tile, r / pair, b, h, i + r, least(pair, rows - r));
    }
}

std::int64_t query_blocks(const AttentionShape& shape) { return divide_up(shape.queries, query_block); }

std::int64_t forward_tiles(const AttentionShape& shape) { return shape.batch * shape.heads * query_blocks(shape); }

/// A head's blocks lie together, because they share K and V, and alternate between the longest and the shortest left,
/// so that equal ranges of tiles cost about the same.
void forward(const AttentionForwardArgs<float>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    const AttentionShape& shape = args.shape;
    const std::int64_t blocks = query_blocks(shape);
    if (shape.queries == 1) {
        for (std::int64_t t = tile_begin; t < tile_end; ++t) decode_query(args, t / shape.heads, t % shape.heads);
        return;
    }
    for (std::int64_t t = tile_begin; t < tile_end; ++t) {
        const std::int64_t head = t / blocks;
        const std::int64_t turn = t % blocks;
        const std::int64_t block = turn % 2 == 0 ? blocks - 1 - turn / 2 : turn / 2;
        const std::int64_t i = block * query_block;
        forward_block(args, head / shape.heads, head % shape.heads, i, least(query_block, shape.queries - i));
    }
}

}  // namespace

void add_attention(KernelTable<float>& table) {
    table.attention.forward_tiles = forward_tiles;
    table.attention.forward = forward;
    add_attention_backward(table.attention);
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
