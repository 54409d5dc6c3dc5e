#include <cmath>
#include <limits>

#include "kernels/attention/attention_ref.hpp"
#include "kernels/families.hpp"

namespace causeway::kernels::reference {
namespace {

std::int64_t explicit_tiles(const AttentionShape& shape) { return shape.batch * shape.heads; }
std::int64_t explicit_backward_tiles(const AttentionShape& shape) { return shape.batch * shape.kv_heads; }

template <class T>
void explicit_row(const ExplicitAttentionArgs<T>& args, std::int64_t b, std::int64_t h, std::int64_t i) {
    const AttentionShape& shape = args.shape;
    const Query<T> query(args, b, h, i);
    T* weights = args.weights + ((b * shape.heads + h) * shape.queries + i) * shape.keys;
    T* out = args.out.at(b, i, h);
    std::fill_n(weights, shape.keys, T{0});
    T max = -std::numeric_limits<T>::infinity();
    query.each_key([&](std::int64_t j) { max = std::max(max, weights[j] = query.score(j)); });
    T sum = 0;
    query.each_key([&](std::int64_t j) { sum += weights[j] = std::exp(weights[j] - max); });
    std::fill_n(out, shape.head_dim, T{0});
    query.each_key([&](std::int64_t j) {
        weights[j] /= sum;
        axpy(weights[j] * query.dropout(j), args.v.at(b, j, query.kv_head()), out, shape.head_dim);
    });
}

/// A tile is one (b, h).
template <class T>
void explicit_forward(const ExplicitAttentionArgs<T>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    for (std::int64_t tile = tile_begin; tile < tile_end; ++tile) {
        for (std::int64_t i = 0; i < args.shape.queries; ++i) {
            explicit_row(args, tile / args.shape.heads, tile % args.shape.heads, i);
        }
    }
}

template <class T>
void explicit_backward_row(const ExplicitAttentionBackwardArgs<T>& args, std::int64_t b, std::int64_t h,
                           std::int64_t i) {
    const AttentionShape& shape = args.shape;
    const std::int64_t dim = shape.head_dim;
    const Query<T> query(args, b, h, i);
    const std::int64_t g = query.kv_head();
    const std::int64_t row = ((b * shape.heads + h) * shape.queries + i) * shape.keys;
    const T* weights = args.weights + row;
    const T* dout = args.dout.at(b, i, h);
    T* dscores = args.dscores + row;
    std::fill_n(dscores, shape.keys, T{0});
    T delta = 0;
    query.each_key([&](std::int64_t j) {
        dscores[j] = query.dropout(j) * dot(dout, args.v.at(b, j, g), dim);
        delta += weights[j] * dscores[j];
    });
    query.each_key([&](std::int64_t j) {
        dscores[j] = static_cast<T>(shape.scale) * weights[j] * (dscores[j] - delta);
        axpy(weights[j] * query.dropout(j), dout, args.dv.at(b, j, g), dim);
        axpy(dscores[j], args.q.at(b, i, h), args.dk.at(b, j, g), dim);
        axpy(dscores[j], args.k.at(b, j, g), args.dq.at(b, i, h), dim);
    });
}

/// A tile is one (b, kv head) with all its query heads.
template <class T>
void explicit_backward(const ExplicitAttentionBackwardArgs<T>& args, std::int64_t tile_begin, std::int64_t tile_end) {
    const AttentionShape& shape = args.shape;
    const std::int64_t group = shape.heads / shape.kv_heads;
    for (std::int64_t tile = tile_begin; tile < tile_end; ++tile) {
        const std::int64_t b = tile / shape.kv_heads, g = tile % shape.kv_heads;
        zero_head(args.dk, b, shape.keys, g, shape.head_dim);
        zero_head(args.dv, b, shape.keys, g, shape.head_dim);
        for (std::int64_t h = g * group; h < (g + 1) * group; ++h) {
            zero_head(args.dq, b, shape.queries, h, shape.head_dim);
            for (std::int64_t i = 0; i < shape.queries; ++i) explicit_backward_row(args, b, h, i);
        }
    }
}

}  // namespace

template <class T>
void add_explicit_attention(KernelTable<T>& table) {
    table.attention.explicit_tiles = explicit_tiles;
    table.attention.explicit_forward = explicit_forward<T>;
    table.attention.explicit_backward_tiles = explicit_backward_tiles;
    table.attention.explicit_backward = explicit_backward<T>;
}
template void add_explicit_attention(KernelTable<float>& table);
template void add_explicit_attention(KernelTable<double>& table);

}  // namespace causeway::kernels::reference
