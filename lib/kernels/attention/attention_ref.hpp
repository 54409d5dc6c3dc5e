#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/attention/attention.hpp"
#include "kernels/dropout/dropout_ref.hpp"

// What the plain-loop twins of the tiled and the explicit attention share. Included by .ref.cpp files only.

namespace causeway::kernels::reference {

template <class T>
T dot(const T* x, const T* y, std::int64_t n) {
    T sum = 0;
    for (std::int64_t d = 0; d < n; ++d) sum += x[d] * y[d];
    return sum;
}

/// y += a x
template <class T>
void axpy(T a, const T* x, T* y, std::int64_t n) {
    for (std::int64_t d = 0; d < n; ++d) y[d] += a * x[d];
}

/// Zeroes the rows of one head of a view.
template <class T>
void zero_head(const HeadsView<T>& view, std::int64_t b, std::int64_t tokens, std::int64_t h, std::int64_t head_dim) {
    for (std::int64_t t = 0; t < tokens; ++t) std::fill_n(view.at(b, t, h), head_dim, T{0});
}

/// One query of one head: which keys it sees, their scores, what dropout does to their weights.
template <class T>
class Query {
  public:
    template <class Args>
    Query(const Args& args, std::int64_t b, std::int64_t h, std::int64_t i)
        : shape_(args.shape), variant_(args.variant), k_(args.k), q_(args.q.at(b, i, h)), b_(b), h_(h), i_(i) {
        position_ = i + shape_.keys - shape_.queries;
    }

    std::int64_t kv_head() const { return h_ / (shape_.heads / shape_.kv_heads); }

    bool sees(std::int64_t j) const {
        const std::int64_t distance = position_ - j;
        if (shape_.causal && distance < 0) return false;
        if (shape_.window > 0 && (shape_.causal ? distance >= shape_.window : std::abs(distance) > shape_.window)) {
            return false;
        }
        if (variant_.key_mask != nullptr && variant_.key_mask[b_ * shape_.keys + j] == 0) return false;
        const MaskView& mask = variant_.mask;
        return mask.data == nullptr ||
               mask.data[b_ * mask.batch_stride + h_ * mask.head_stride + i_ * mask.query_stride + j] != 0;
    }

    /// f(j) for every key that is seen, in order.
    template <class F>
    void each_key(F&& f) const {
        for (std::int64_t j = 0; j < shape_.keys; ++j) {
            if (sees(j)) f(j);
        }
    }

    T score(std::int64_t j) const {
        const T product = static_cast<T>(shape_.scale) * dot(q_, k_.at(b_, j, kv_head()), shape_.head_dim);
        if (variant_.slopes == nullptr) return product;
        return product - variant_.slopes[h_] * static_cast<T>(std::abs(position_ - j));
    }

    T dropout(std::int64_t j) const { return static_cast<T>(dropout_factor(variant_.dropout, b_, h_, i_, j)); }

  private:
    const AttentionShape& shape_;
    const AttentionVariant<T>& variant_;
    HeadsView<const T> k_;
    const T* q_;
    std::int64_t b_, h_, i_;
    std::int64_t position_;
};

}  // namespace causeway::kernels::reference
