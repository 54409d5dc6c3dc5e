#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "base/alibi.hpp"
#include "kernels/kernel_table.hpp"

namespace causeway::kernels::test {

/// A (B,T,H,Dh) tensor inside a larger buffer: `gap` elements between tokens and one before the first belong to others.
/// They hold `guard`, and clean() tells whether they still do.
template <class T>
class Heads {
  public:
    Heads(std::int64_t batch, std::int64_t tokens, std::int64_t heads, std::int64_t head_dim, T guard)
        : batch_(batch), tokens_(tokens), heads_(heads), dim_(head_dim), guard_(guard) {
        data_.assign(static_cast<std::size_t>(1 + batch * tokens * stride()), guard);
        each([](T& x) { x = T{0}; });
    }

    HeadsView<T> view() { return {data_.data() + 1, tokens_ * stride(), stride(), dim_}; }
    HeadsView<const T> view() const { return {data_.data() + 1, tokens_ * stride(), stride(), dim_}; }
    T& at(std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t d) { return view().at(b, t, h)[d]; }
    T at(std::int64_t b, std::int64_t t, std::int64_t h, std::int64_t d) const { return view().at(b, t, h)[d]; }

    /// f(element) for every element, in memory order.
    template <class F>
    void each(F f) {
        for (std::int64_t row = 0; row < batch_ * tokens_; ++row) {
            for (std::int64_t c = 0; c < heads_ * dim_; ++c) f(data_[static_cast<std::size_t>(1 + row * stride() + c)]);
        }
    }

    /// The elements alone, in memory order.
    std::vector<T> values() const {
        std::vector<T> all;
        const_cast<Heads*>(this)->each([&](T& x) { all.push_back(x); });
        return all;
    }

    void assign(const std::vector<double>& values) {
        std::size_t i = 0;
        each([&](T& x) { x = static_cast<T>(values[i++]); });
    }

    bool clean() const {
        for (std::size_t i = 0; i < data_.size(); ++i) {
            const std::int64_t c = (static_cast<std::int64_t>(i) - 1) % stride();
            if (i > 0 && c < heads_ * dim_) continue;
            if (!(data_[i] == guard_ || (std::isnan(data_[i]) && std::isnan(guard_)))) return false;
        }
        return true;
    }

  private:
    static constexpr std::int64_t gap = 3;
    std::int64_t stride() const { return heads_ * dim_ + gap; }

    std::int64_t batch_, tokens_, heads_, dim_;
    T guard_;
    std::vector<T> data_;
};

/// One attention problem with every tensor it needs. Inputs are guarded by NaN, so that a read outside shows; results
/// begin as 7, so that nothing passes by being left alone.
template <class T>
struct Problem {
    static constexpr T nan = std::numeric_limits<T>::quiet_NaN();

    explicit Problem(const AttentionShape& its_shape, std::uint32_t seed = 1)
        : shape(its_shape),
          q(shape.batch, shape.queries, shape.heads, shape.head_dim, nan),
          k(shape.batch, shape.keys, shape.kv_heads, shape.head_dim, nan),
          v(shape.batch, shape.keys, shape.kv_heads, shape.head_dim, nan),
          dout(shape.batch, shape.queries, shape.heads, shape.head_dim, nan),
          out(shape.batch, shape.queries, shape.heads, shape.head_dim, T{-1}),
          dq(shape.batch, shape.queries, shape.heads, shape.head_dim, T{-1}),
          dk(shape.batch, shape.keys, shape.kv_heads, shape.head_dim, T{-1}),
          dv(shape.batch, shape.keys, shape.kv_heads, shape.head_dim, T{-1}),
          lse(static_cast<std::size_t>(shape.batch * shape.heads * shape.queries), T{7}),
          weights(static_cast<std::size_t>(shape.batch * shape.heads * shape.queries * shape.keys), T{7}),
          dscores(weights.size(), T{7}) {
        std::mt19937 random(seed);
        std::normal_distribution<float> normal;
        for (auto* input : {&q, &k, &v, &dout}) {
            input->each([&](T& x) { x = static_cast<T>(normal(random)); });
        }
        for (auto* result : {&out, &dq, &dk, &dv}) result->each([](T& x) { x = T{7}; });
    }

    /// A random mask of (Tq,Tk) bytes a sequence and head (`full`), or one for all of them, that hides a third; query 1
    /// sees nothing.
    void hide_at_random(bool full) {
        std::mt19937 random(5);
        mask_heads = full ? shape.batch * shape.heads : 1;
        mask.resize(static_cast<std::size_t>(mask_heads * shape.queries * shape.keys));
        for (std::uint8_t& byte : mask) byte = random() % 3 != 0 ? 1 : 0;
        for (std::int64_t head = 0; head < mask_heads && shape.queries > 1; ++head) {
            std::fill_n(mask.begin() + (head * shape.queries + 1) * shape.keys, shape.keys, std::uint8_t{0});
        }
    }

    /// Hides the first keys of even sequences and the last of odd ones, as padding does; of the last one all.
    void pad_keys() {
        key_mask.assign(static_cast<std::size_t>(shape.batch * shape.keys), 1);
        for (std::int64_t b = 0; b < shape.batch; ++b) {
            const std::int64_t padded = b + 1 == shape.batch && b > 0 ? shape.keys : shape.keys / 3;
            const std::int64_t first = b * shape.keys + (b % 2 == 0 ? 0 : shape.keys - padded);
            std::fill_n(key_mask.begin() + first, padded, 0);
        }
    }

    void add_alibi() {
        for (const double slope : alibi_slopes(shape.heads)) slopes.push_back(static_cast<T>(slope));
    }

    AttentionVariant<T> variant() const {
        AttentionVariant<T> result;
        if (!mask.empty()) {
            const std::int64_t head = mask_heads > 1 ? shape.queries * shape.keys : 0;
            result.mask = {mask.data(), head * shape.heads, head, shape.keys};
        }
        if (!key_mask.empty()) result.key_mask = key_mask.data();
        if (!slopes.empty()) result.slopes = slopes.data();
        result.dropout = dropout;
        return result;
    }

    AttentionForwardArgs<T> forward_args() {
        return {
            shape,    std::as_const(q).view(), std::as_const(k).view(), std::as_const(v).view(), out.view(), lse.data(),
            variant()};
    }

    AttentionBackwardArgs<T> backward_args(const AttentionKernels<T>& kernels) {
        workspace.assign(static_cast<std::size_t>(kernels.backward_workspace(shape)), nan);
        return {shape,
                std::as_const(q).view(),
                std::as_const(k).view(),
                std::as_const(v).view(),
                std::as_const(out).view(),
                std::as_const(dout).view(),
                lse.data(),
                dq.view(),
                dk.view(),
                dv.view(),
                workspace.data(),
                variant()};
    }

    void forward(const AttentionKernels<T>& kernels) {
        kernels.forward(forward_args(), 0, kernels.forward_tiles(shape));
    }

    void backward(const AttentionKernels<T>& kernels) {
        const auto args = backward_args(kernels);
        kernels.backward_delta(args, 0, kernels.backward_delta_tiles(shape));
        kernels.backward(args, 0, kernels.backward_tiles(shape));
        kernels.backward_reduce(args, 0, kernels.backward_reduce_tiles(shape));
    }

    void explicit_forward(const AttentionKernels<T>& kernels) {
        const ExplicitAttentionArgs<T> args{shape,
                                            std::as_const(q).view(),
                                            std::as_const(k).view(),
                                            std::as_const(v).view(),
                                            out.view(),
                                            weights.data(),
                                            variant()};
        kernels.explicit_forward(args, 0, kernels.explicit_tiles(shape));
    }

    void explicit_backward(const AttentionKernels<T>& kernels) {
        const ExplicitAttentionBackwardArgs<T> args{shape,
                                                    std::as_const(q).view(),
                                                    std::as_const(k).view(),
                                                    std::as_const(v).view(),
                                                    std::as_const(dout).view(),
                                                    weights.data(),
                                                    dq.view(),
                                                    dk.view(),
                                                    dv.view(),
                                                    dscores.data(),
                                                    variant()};
        kernels.explicit_backward(args, 0, kernels.explicit_backward_tiles(shape));
    }

    bool clean() const { return out.clean() && dq.clean() && dk.clean() && dv.clean(); }

    AttentionShape shape;
    Heads<T> q, k, v, dout, out, dq, dk, dv;
    std::vector<T> lse, weights, dscores, workspace;
    std::vector<std::uint8_t> mask;
    std::int64_t mask_heads = 1;
    std::vector<std::int32_t> key_mask;
    std::vector<T> slopes;
    DropoutMask dropout;
};

/// Heads, sequences and widths that meet every edge: of a vector, a micro-tile, a block of queries or keys, one token,
/// grouped heads, a past (Tk > Tq), queries without keys (Tq > Tk), several groups of keys in the backward.
inline std::vector<AttentionShape> awkward_shapes() {
    std::vector<AttentionShape> shapes{
        {1, 1, 1, 1, 1, 1, 1.0, true},         {2, 3, 3, 13, 13, 5, 0.447, true},
        {1, 4, 2, 12, 12, 8, 0.354, true},     {1, 2, 1, 64, 64, 32, 0.177, true},
        {2, 2, 2, 65, 65, 13, 0.277, true},    {1, 2, 2, 97, 97, 64, 0.125, true},
        {1, 2, 1, 130, 130, 20, 0.224, true},  {1, 6, 2, 33, 70, 24, 0.204, true},
        {1, 2, 2, 1, 77, 16, 0.25, true},      {1, 2, 2, 3, 200, 17, 0.243, true},
        {1, 2, 1, 70, 33, 31, 0.18, true},     {1, 1, 1, 150, 9, 7, 0.378, true},
        {1, 2, 2, 70, 33, 40, 0.158, false},   {1, 2, 1, 40, 67, 96, 0.102, false},
        {1, 1, 1, 81, 81, 128, 0.088, true},   {1, 1, 1, 70, 70, 256, 0.0625, true},
        {1, 2, 1, 1030, 1030, 12, 0.29, true}, {1, 1, 1, 600, 700, 33, 0.174, false},
        {2, 6, 2, 1, 301, 64, 0.125, true},    {1, 1, 1, 1, 40, 256, 0.0625, false},
        {1, 2, 1, 1, 0, 12, 0.29, true},       {1, 1, 1, 2, 130, 9, 0.333, true},
        {1, 1, 1, 5, 0, 8, 0.354, false},      {1, 1, 1, 0, 5, 8, 0.354, true},
    };
    for (std::int64_t tokens = 2; tokens <= 40; tokens += 3) {
        shapes.push_back({1, 1, 1, tokens, tokens, (tokens * 7) % 40 + 1, 0.3, true});
    }
    return shapes;
}

}  // namespace causeway::kernels::test
