#include "kernels/attention/attention_tile.hpp"
#include "kernels/attention/attention_variant.hpp"
#include "kernels/attention/backward_cut.hpp"
#include "kernels/attention/softmax_row.hpp"
#include "kernels/dropout/dropout_row.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {
namespace {

using namespace backward_cut;

/// Keys in the lanes: Q and dO are then read in place, an element at a time, and dK and dV are summed transposed.
struct BackwardTile {
    alignas(64) float k_t[max_head_dim * key_block];  ///< (Dh, keys): K^T times scale * log2(e)
    alignas(64) float v_t[max_head_dim * key_block];  ///< (Dh, keys)
    alignas(64) float k[key_block * max_head_dim];    ///< (keys, padded Dh): K times scale
    alignas(64) float dk_t[max_head_dim * key_block];
    alignas(64) float dv_t[max_head_dim * key_block];
    alignas(64) float p[query_block * key_block];   ///< (queries, keys): S, then P
    alignas(64) float ds[query_block * key_block];  ///< (queries, keys): dP, then dS
    alignas(64) float dq[query_block * max_head_dim];
};
static_assert(sizeof(BackwardTile) <= 512 * 1024);

/// Where dQ of one (b, h) goes: rows `stride` apart; stored by the first block of keys, added to by the others. Behind
/// a window the first block that a row meets differs from row to row: all then add to zeros.
struct QueryGradient {
    float* data;
    std::int64_t stride;
    bool store;
};

/// The partial dQ (B,H,Tq,Dh) of a group after the first, which writes dQ itself.
float* partial_dq(const AttentionBackwardArgs<float>& args, std::int64_t group, std::int64_t b, std::int64_t h) {
    const AttentionShape& shape = args.shape;
    const std::int64_t rows = shape.batch * shape.heads * shape.queries;
    return args.workspace + rows + ((group - 1) * rows + (b * shape.heads + h) * shape.queries) * shape.head_dim;
}

// --- delta ---------------------------------------------------------------------------------------------------------

std::int64_t delta_tiles(const AttentionShape& shape) { return shape.batch * shape.heads * query_blocks(shape); }

/// delta (B,H,Tq) = rowsum(dO o O), at the head of the workspace. A tile is a block of queries of one head.
void backward_delta(const AttentionBackwardArgs<float>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    const AttentionShape& shape = args.shape;
    const std::int64_t blocks = query_blocks(shape);
    for (std::int64_t t = tile_begin; t < tile_end; ++t) {
        const std::int64_t head = t / blocks;
        const std::int64_t b = head / shape.heads, h = head % shape.heads;
        const std::int64_t end = least(shape.queries, (t % blocks + 1) * query_block);
        const float* out = args.out.data + b * args.out.batch_stride + h * args.out.head_stride;
        const float* dout = args.dout.data + b * args.dout.batch_stride + h * args.dout.head_stride;
        for (std::int64_t i = t % blocks * query_block; i < end; ++i) {
            args.workspace[head * shape.queries + i] =
                row_dot(dout + i * args.dout.token_stride, out + i * args.out.token_stride, shape.head_dim);
        }
    }
}

// --- one block of keys against one block of queries ----------------------------------------------------------------

struct Step {
    const AttentionBackwardArgs<float>& args;
    BackwardTile& tile;
    const float* q;      ///< row 0 of the block of queries
    const float* dout;   ///< the same
    const float* lse;    ///< the same
    const float* delta;  ///< the same
    QueryGradient dq;    ///< the same
    std::int64_t rows;   ///< queries in the block
    std::int64_t keys;   ///< keys in the block
    std::int64_t from;   ///< row r sees keys [from + r, seen + r) of the block, before clipping to [0, keys]
    std::int64_t seen;
    std::int64_t prefetch;  ///< rows to the end of Q when the next block's rows must be fetched ahead, else 0
    const HeadVariant& variant;
    std::int64_t b, h, i, j;  ///< of row 0 and the block's first key

    std::int64_t hidden_from(std::int64_t r) const { return most(0, least(keys, from + r)); }
    std::int64_t seen_by(std::int64_t r) const { return most(0, least(keys, seen + r)); }
};

/// S and dP, a tile of rows at a time, and only the vectors of keys between those its first row and its last row see.
void scores(const Step& step) {
    const AttentionBackwardArgs<float>& args = step.args;
    const std::int64_t dim = args.shape.head_dim;
    for (std::int64_t t = 0; t < row_tiles(step.rows); ++t) {
        const std::int64_t r = row_begin(step.rows, t);
        const std::int64_t n = row_begin(step.rows, t + 1) - r;
        const std::int64_t c = step.hidden_from(r) / lanes * lanes;
        const std::int64_t vecs = divide_up(step.seen_by(r + n - 1) - c, lanes);
        for (std::int64_t i = r + query_block; i < least(r + n + query_block, step.prefetch); ++i) {
            prefetch_row(step.q + i * args.q.token_stride, dim);
            prefetch_row(step.dout + i * args.dout.token_stride, dim);
            prefetch_row(step.dq.data + i * step.dq.stride, dim);
        }
        multiply_rows<false>(n, vecs, dim, step.q + r * args.q.token_stride, args.q.token_stride, step.tile.k_t + c,
                             key_block, step.tile.p + r * key_block + c, key_block, Start::zero);
        multiply_rows<false>(n, vecs, dim, step.dout + r * args.dout.token_stride, args.dout.token_stride,
                             step.tile.v_t + c, key_block, step.tile.ds + r * key_block + c, key_block, Start::zero);
    }
}

/// exp(S - lse), both in powers of 2. Scores are summed here in another order than in the forward, so that a score of
/// 1e6 may come out above its row's log-sum-exp; min returns its second operand when that is NaN.
inline Vec weight_of(Vec score, Vec lse) { return exp2_nonpositive(xsimd::min(Vec(0.0f), score - lse)); }

/// A vector of a row at key c, of which keys [from, seen) are seen: P = exp(S - lse) and dS = P o (dP - delta), 0 where
/// hidden. `lane` is lane_index(); Plain: `from` is 0.
template <bool Plain>
inline void edge_of_row(float* p, float* ds, std::int64_t c, std::int64_t from, std::int64_t seen, Vec lse, Vec delta,
                        Vec lane) {
    const Vec zero(0.0f);
    auto visible = lane < Vec(static_cast<float>(seen - c));
    if (!Plain) visible = visible && lane >= Vec(static_cast<float>(from - c));
    const Vec weight = xsimd::select(visible, weight_of(load(p + c), lse), zero);
    store(p + c, weight);
    store(ds + c, xsimd::select(visible, weight * (load(ds + c) - delta), zero));
}

inline void clear_row(float* p, float* ds, std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; c += lanes) {
        store(p + c, Vec(0.0f));
        store(ds + c, Vec(0.0f));
    }
}

/// P = exp(S - lse) and dS = P o (dP - delta) of row r, 0 outside of keys [from, seen). Plain: `from` is 0, and the row
/// sees a key.
template <bool Plain>
inline void row_probabilities(const Step& step, std::int64_t r, std::int64_t from, std::int64_t seen, Vec lane) {
    float* p = step.tile.p + r * key_block;
    float* ds = step.tile.ds + r * key_block;
    float row_lse = step.lse[r];
    // A row without any key has lse -inf; against +inf its hidden scores give 0 and not NaN.
    if (!Plain && row_lse == -__builtin_inff()) row_lse = __builtin_inff();
    const Vec lse(row_lse * static_cast<float>(log2_e));
    const Vec delta(step.delta[r]);
    std::int64_t c = 0;
    if (!Plain) {
        c = from / lanes * lanes;
        clear_row(p, ds, 0, c);
        if (c < from && c < seen) {
            edge_of_row<Plain>(p, ds, c, from, seen, lse, delta, lane);
            c += lanes;
        }
    }
    for (; c + lanes <= seen; c += lanes) {
        const Vec weight = weight_of(load(p + c), lse);
        store(p + c, weight);
        store(ds + c, weight * (load(ds + c) - delta));
    }
    if (c < seen) {
        edge_of_row<Plain>(p, ds, c, from, seen, lse, delta, lane);
        c += lanes;
    }
    clear_row(p, ds, c, round_up(step.keys, lanes));
}

void plain_probabilities(const Step& step) {
    const Vec lane = lane_index();
    for (std::int64_t r = 0; r < step.rows; ++r) row_probabilities<true>(step, r, 0, step.seen_by(r), lane);
}

/// The same with a window and what the variant adds: to the scores before, and dropout's factors to dP and to P.
void variant_probabilities(const Step& step) {
    const DropoutMask& dropout = step.args.variant.dropout;
    const bool adjusts = step.variant.adjusts();
    const Vec lane = lane_index();
    for (std::int64_t r = 0; r < step.rows; ++r) {
        float* p = step.tile.p + r * key_block;
        float* ds = step.tile.ds + r * key_block;
        const std::int64_t from = step.hidden_from(r), seen = step.seen_by(r), begin = from / lanes * lanes;
        if (adjusts && from < seen) adjust_row(step.variant, step.i + r, step.j + from, seen - from, p + from);
        if (!dropout) {
            row_probabilities<false>(step, r, from, seen, lane);
            continue;
        }
        alignas(64) float factors[key_block];
        dropout_factors(dropout, step.b, step.h, step.i + r, step.j, step.j + step.keys, factors);
        for (std::int64_t c = begin; c < seen; c += lanes) store(ds + c, load(ds + c) * load(factors + c));
        row_probabilities<false>(step, r, from, seen, lane);
        for (std::int64_t c = begin; c < seen; c += lanes) store(p + c, load(p + c) * load(factors + c));
    }
}

void probabilities(const Step& step) {
    const bool plain = step.args.shape.window == 0 && !step.args.variant.dropout && !step.variant.adjusts();
    if (plain) {
        plain_probabilities(step);
    } else {
        variant_probabilities(step);
    }
}

/// dV^T += dO^T P and dK^T += Q^T dS: for each pair of vectors of keys, over the queries that see one of them.
void key_gradients(const Step& step) {
    const AttentionBackwardArgs<float>& args = step.args;
    const std::int64_t dim = args.shape.head_dim;
    for (std::int64_t c = 0; c < step.keys; c += pair) {
        const std::int64_t vecs = step.keys - c > lanes ? 2 : 1;
        const std::int64_t r = most(0, least(step.rows, c + 1 - step.seen));
        const std::int64_t n = most(0, least(step.rows, c + pair - step.from) - r);
        multiply<true>(dim, vecs, n, step.dout + r * args.dout.token_stride, args.dout.token_stride,
                       step.tile.p + r * key_block + c, key_block, step.tile.dv_t + c, key_block, Start::add);
        multiply<true>(dim, vecs, n, step.q + r * args.q.token_stride, args.q.token_stride,
                       step.tile.ds + r * key_block + c, key_block, step.tile.dk_t + c, key_block, Start::add);
    }
}

/// dQ (+)= dS K, over the keys that a tile of rows sees.
void query_gradient(const Step& step) {
    const QueryGradient& to = step.dq;
    const std::int64_t dim = step.args.shape.head_dim;
    const std::int64_t padded = round_up(dim, lanes);
    const bool in_place = dim == padded;
    const Start start = in_place && !to.store ? Start::add : Start::zero;
    for (std::int64_t t = 0; t < row_tiles(step.rows); ++t) {
        const std::int64_t r = row_begin(step.rows, t);
        const std::int64_t n = row_begin(step.rows, t + 1) - r;
        const std::int64_t c = step.hidden_from(r);
        float* rows = in_place ? to.data + r * to.stride : step.tile.dq;
        multiply_rows<false>(n, padded / lanes, most(0, step.seen_by(r + n - 1) - c), step.tile.ds + r * key_block + c,
                             key_block, step.tile.k + c * padded, padded, rows, in_place ? to.stride : padded, start);
        if (in_place) continue;
        for (std::int64_t i = 0; i < n; ++i) {
            float* row = to.data + (r + i) * to.stride;
            for (std::int64_t d = 0; d < dim; d += lanes) {
                const std::int64_t width = least(lanes, dim - d);
                const Vec part = load(step.tile.dq + i * padded + d);
                store_partial(row + d, to.store ? part : load_partial(row + d, width) + part, width);
            }
        }
    }
}

// --- the walk ------------------------------------------------------------------------------------------------------

/// All queries of head h that see keys [j, j + keys), whose K and V are packed.
void head_step(const AttentionBackwardArgs<float>& args, BackwardTile& tile, std::int64_t b, std::int64_t h,
               std::int64_t j, std::int64_t keys, const QueryGradient& dq) {
    const AttentionShape& shape = args.shape;
    const Band band = band_of(shape);
    const HeadVariant variant = head_variant(args.variant, shape, b, h, static_cast<float>(log2_e));
    const std::int64_t head = (b * shape.heads + h) * shape.queries;
    const float* q = args.q.data + b * args.q.batch_stride + h * args.q.head_stride;
    const float* dout = args.dout.data + b * args.dout.batch_stride + h * args.dout.head_stride;
    const QueryRange queries = queries_of(shape, j / key_block);
    for (std::int64_t i = queries.begin; i < queries.end; i += query_block) {
        const Step step{args,
                        tile,
                        q + i * args.q.token_stride,
                        dout + i * args.dout.token_stride,
                        args.lse + head + i,
                        args.workspace + head + i,
                        {dq.data + i * dq.stride, dq.stride, dq.store},
                        least(query_block, queries.end - i),
                        keys,
                        i + band.first - j,
                        i + band.end - j,
                        exceeds_l2(shape) ? queries.end - i : 0,
                        variant,
                        b,
                        h,
                        i,
                        j};
        scores(step);
        probabilities(step);
        key_gradients(step);
        query_gradient(step);
    }
}

void pack_keys(const AttentionBackwardArgs<float>& args, BackwardTile& tile, std::int64_t b, std::int64_t kv_head,
               std::int64_t j, std::int64_t keys) {
    const AttentionShape& shape = args.shape;
    const std::int64_t dim = shape.head_dim;
    const float* k = args.k.data + b * args.k.batch_stride + j * args.k.token_stride + kv_head * args.k.head_stride;
    const float* v = args.v.data + b * args.v.batch_stride + j * args.v.token_stride + kv_head * args.v.head_stride;
    pack_transposed(k, args.k.token_stride, keys, dim, static_cast<float>(shape.scale * log2_e), tile.k_t, key_block);
    pack_transposed(v, args.v.token_stride, keys, dim, 1.0f, tile.v_t, key_block);
    pack_rows(k, args.k.token_stride, keys, dim, static_cast<float>(shape.scale), tile.k, round_up(dim, lanes));
    for (std::int64_t c = 0; c < dim * key_block; c += lanes) {
        store(tile.dk_t + c, Vec(0.0f));
        store(tile.dv_t + c, Vec(0.0f));
    }
}

void store_key_gradients(const AttentionBackwardArgs<float>& args, const BackwardTile& tile, std::int64_t b,
                         std::int64_t kv_head, std::int64_t j, std::int64_t keys) {
    alignas(64) float factor[key_block];
    const std::int64_t dim = args.shape.head_dim;
    for (std::int64_t c = 0; c < key_block; ++c) factor[c] = static_cast<float>(args.shape.scale);
    unpack_transposed(
        tile.dk_t, key_block, keys, dim, factor,
        args.dk.data + b * args.dk.batch_stride + j * args.dk.token_stride + kv_head * args.dk.head_stride,
        args.dk.token_stride);
    for (std::int64_t c = 0; c < key_block; ++c) factor[c] = 1.0f;
    unpack_transposed(
        tile.dv_t, key_block, keys, dim, factor,
        args.dv.data + b * args.dv.batch_stride + j * args.dv.token_stride + kv_head * args.dv.head_stride,
        args.dv.token_stride);
}

/// dQ of rows [begin, end) becomes 0.
void clear_queries(const QueryGradient& dq, std::int64_t begin, std::int64_t end, std::int64_t dim) {
    for (std::int64_t i = begin; i < end; ++i) {
        for (std::int64_t d = 0; d < dim; ++d) dq.data[i * dq.stride + d] = 0.0f;
    }
}

/// The key blocks of one group of one (b, kv head) in order, each with all the query heads that read it.
void backward_group(const AttentionBackwardArgs<float>& args, std::int64_t b, std::int64_t kv_head,
                    std::int64_t group) {
    BackwardTile tile;
    const AttentionShape& shape = args.shape;
    const std::int64_t share = shape.heads / shape.kv_heads;
    const std::int64_t begin = group_begin(shape, group), end = group_begin(shape, group + 1);
    const auto query_gradient_of = [&](std::int64_t h, bool store) {
        if (group > 0) return QueryGradient{partial_dq(args, group, b, h), shape.head_dim, store};
        return QueryGradient{args.dq.data + b * args.dq.batch_stride + h * args.dq.head_stride, args.dq.token_stride,
                             store};
    };
    const QueryRange clear = rows_to_clear(shape, group);
    for (std::int64_t h = kv_head * share; h < (kv_head + 1) * share; ++h) {
        clear_queries(query_gradient_of(h, true), clear.begin, clear.end, shape.head_dim);
    }
    for (std::int64_t block = begin; block < end; ++block) {
        const std::int64_t j = block * key_block;
        const std::int64_t keys = least(key_block, shape.keys - j);
        pack_keys(args, tile, b, kv_head, j, keys);
        for (std::int64_t h = kv_head * share; h < (kv_head + 1) * share; ++h) {
            head_step(args, tile, b, h, j, keys, query_gradient_of(h, block == begin && shape.window == 0));
        }
        store_key_gradients(args, tile, b, kv_head, j, keys);
    }
}

std::int64_t backward_tiles(const AttentionShape& shape) { return shape.batch * shape.kv_heads * key_groups(shape); }

void backward(const AttentionBackwardArgs<float>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    const std::int64_t groups = key_groups(args.shape);
    for (std::int64_t t = tile_begin; t < tile_end; ++t) {
        const std::int64_t instance = t / groups;
        backward_group(args, instance / args.shape.kv_heads, instance % args.shape.kv_heads, t % groups);
    }
}

// --- the sum of partial dQ -----------------------------------------------------------------------------------------

std::int64_t backward_workspace(const AttentionShape& shape) {
    const std::int64_t rows = shape.batch * shape.heads * shape.queries;
    return rows + (key_groups(shape) - 1) * rows * shape.head_dim;
}

std::int64_t reduce_tiles(const AttentionShape& shape) {
    return key_groups(shape) == 1 ? 0 : shape.batch * shape.heads * query_blocks(shape);
}

/// A tile is a block of queries of one head. A group's partial dQ has the rows that see one of its keys.
void backward_reduce(const AttentionBackwardArgs<float>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    const AttentionShape& shape = args.shape;
    const std::int64_t blocks = query_blocks(shape), dim = shape.head_dim;
    for (std::int64_t t = tile_begin; t < tile_end; ++t) {
        const std::int64_t b = t / blocks / shape.heads, h = t / blocks % shape.heads;
        const std::int64_t i0 = t % blocks * query_block, i1 = least(shape.queries, i0 + query_block);
        float* dq = args.dq.data + b * args.dq.batch_stride + h * args.dq.head_stride;
        for (std::int64_t group = 1; group < key_groups(shape); ++group) {
            const float* part = partial_dq(args, group, b, h);
            const std::int64_t begin = queries_of(shape, group_begin(shape, group)).begin;
            const std::int64_t end = queries_of(shape, group_begin(shape, group + 1) - 1).end;
            for (std::int64_t i = most(i0, begin); i < least(i1, end); ++i) {
                float* row = dq + i * args.dq.token_stride;
                std::int64_t c = 0;
                for (; c + lanes <= dim; c += lanes) store(row + c, load(row + c) + load(part + i * dim + c));
                for (; c < dim; ++c) row[c] += part[i * dim + c];
            }
        }
    }
}

}  // namespace

void add_attention_backward(AttentionKernels<float>& attention) {
    attention.backward_workspace = backward_workspace;
    attention.backward_delta_tiles = delta_tiles;
    attention.backward_delta = backward_delta;
    attention.backward_tiles = backward_tiles;
    attention.backward = backward;
    attention.backward_reduce_tiles = reduce_tiles;
    attention.backward_reduce = backward_reduce;
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
