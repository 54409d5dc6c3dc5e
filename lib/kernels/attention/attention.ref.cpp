#include <cmath>
#include <limits>

#include "kernels/attention/attention_ref.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

std::int64_t all_heads(const AttentionShape& shape) { return shape.batch * shape.heads; }
std::int64_t all_kv_heads(const AttentionShape& shape) { return shape.batch * shape.kv_heads; }
std::int64_t no_tiles(const AttentionShape&) { return 0; }
std::int64_t workspace(const AttentionShape& shape) { return shape.batch * shape.heads * shape.queries; }

/// One query row: the scores are computed twice, first for their maximum, so that no buffer is needed.
template <class T>
void forward_row(const AttentionForwardArgs<T>& args, std::int64_t b, std::int64_t h, std::int64_t i) {
    const AttentionShape& shape = args.shape;
    const std::int64_t dim = shape.head_dim;
    const Query<T> query(args, b, h, i);
    T* out = args.out.at(b, i, h);
    T max = -std::numeric_limits<T>::infinity();
    query.each_key([&](std::int64_t j) { max = std::max(max, query.score(j)); });
    std::fill_n(out, dim, T{0});
    T sum = 0;
    query.each_key([&](std::int64_t j) {
        const T p = std::exp(query.score(j) - max);
        sum += p;
        axpy(p * query.dropout(j), args.v.at(b, j, query.kv_head()), out, dim);
    });
    if (sum != 0) {
        for (std::int64_t d = 0; d < dim; ++d) out[d] /= sum;
    }
    if (args.lse) args.lse[(b * shape.heads + h) * shape.queries + i] = sum != 0 ? max + std::log(sum) : max;
}

/// A tile is one (b, h).
template <class T>
void forward(const AttentionForwardArgs<T>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    for (std::int64_t tile = tile_begin; tile < tile_end; ++tile) {
        for (std::int64_t i = 0; i < args.shape.queries; ++i) {
            forward_row(args, tile / args.shape.heads, tile % args.shape.heads, i);
        }
    }
}

/// A tile is one (b, h): delta (B,H,Tq) = rowsum(dO o O) at the head of the workspace.
template <class T>
void backward_delta(const AttentionBackwardArgs<T>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    const AttentionShape& shape = args.shape;
    for (std::int64_t tile = tile_begin; tile < tile_end; ++tile) {
        const std::int64_t b = tile / shape.heads, h = tile % shape.heads;
        for (std::int64_t i = 0; i < shape.queries; ++i) {
            args.workspace[tile * shape.queries + i] = dot(args.dout.at(b, i, h), args.out.at(b, i, h), shape.head_dim);
        }
    }
}

template <class T>
void backward_row(const AttentionBackwardArgs<T>& args, std::int64_t b, std::int64_t h, std::int64_t i) {
    const AttentionShape& shape = args.shape;
    const std::int64_t dim = shape.head_dim;
    const Query<T> query(args, b, h, i);
    const std::int64_t g = query.kv_head();
    const std::int64_t row = (b * shape.heads + h) * shape.queries + i;
    const T* dout = args.dout.at(b, i, h);
    query.each_key([&](std::int64_t j) {
        const T p = std::exp(query.score(j) - args.lse[row]), factor = query.dropout(j);
        const T dp = factor * dot(dout, args.v.at(b, j, g), dim);
        const T ds = static_cast<T>(shape.scale) * p * (dp - args.workspace[row]);
        axpy(p * factor, dout, args.dv.at(b, j, g), dim);
        axpy(ds, args.q.at(b, i, h), args.dk.at(b, j, g), dim);
        axpy(ds, args.k.at(b, j, g), args.dq.at(b, i, h), dim);
    });
}

/// A tile is one (b, kv head) with all its query heads, so dK and dV are summed by one hand.
template <class T>
void backward(const AttentionBackwardArgs<T>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    const AttentionShape& shape = args.shape;
    const std::int64_t group = shape.heads / shape.kv_heads;
    for (std::int64_t tile = tile_begin; tile < tile_end; ++tile) {
        const std::int64_t b = tile / shape.kv_heads, g = tile % shape.kv_heads;
        zero_head(args.dk, b, shape.keys, g, shape.head_dim);
        zero_head(args.dv, b, shape.keys, g, shape.head_dim);
        for (std::int64_t h = g * group; h < (g + 1) * group; ++h) {
            zero_head(args.dq, b, shape.queries, h, shape.head_dim);
            for (std::int64_t i = 0; i < shape.queries; ++i) backward_row(args, b, h, i);
        }
    }
}

template <class T>
void backward_reduce(const AttentionBackwardArgs<T>&, std::int64_t, std::int64_t) {}

}  // namespace

template <class T>
void add_attention(KernelTable<T>& table) {
    AttentionKernels<T>& attention = table.attention;
    attention.forward_tiles = all_heads;
    attention.forward = forward<T>;
    attention.backward_workspace = workspace;
    attention.backward_delta_tiles = all_heads;
    attention.backward_delta = backward_delta<T>;
    attention.backward_tiles = all_kv_heads;
    attention.backward = backward<T>;
    attention.backward_reduce_tiles = no_tiles;
    attention.backward_reduce = backward_reduce<T>;
}
template void add_attention(KernelTable<float>& table);
template void add_attention(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
