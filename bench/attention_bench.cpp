#include <cmath>
#include <memory>

#include "base/alibi.hpp"
#include "base/format.hpp"
#include "families.hpp"
#include "kernels/attention/attention_flops.hpp"
#include "support/bench.hpp"

namespace causeway::bench {
namespace {

using namespace kernels;

/// Causal self-attention as a training step calls it: Q, K, V side by side in one (B,T,3D) buffer, their gradients in
/// another.
struct Operands {
    Operands(std::int64_t batch, std::int64_t heads, std::int64_t tokens, std::int64_t head_dim)
        : shape{batch, heads, heads, tokens, tokens, head_dim, 1 / std::sqrt(static_cast<double>(head_dim)), true},
          qkv(random_floats(3 * batch * tokens * heads * head_dim, 1)),
          dout(random_floats(batch * tokens * heads * head_dim, 2)),
          out(zero_floats(batch * tokens * heads * head_dim)),
          dqkv(zero_floats(3 * batch * tokens * heads * head_dim)),
          lse(zero_floats(batch * heads * tokens)) {}

    template <class T>
    HeadsView<T> view(T* data, std::int64_t width, std::int64_t part) const {
        const std::int64_t stride = width * shape.heads * shape.head_dim;
        return {data + part * shape.heads * shape.head_dim, shape.queries * stride, stride, shape.head_dim};
    }

    void forward() {
        const float* in = qkv.data();
        const AttentionForwardArgs<float> args{
            shape, view(in, 3, 0), view(in, 3, 1), view(in, 3, 2), view(out.data(), 1, 0), lse.data(), variant()};
        run_tiles(kernels().attention.forward_tiles(shape),
                  [&](std::int64_t begin, std::int64_t end) { kernels().attention.forward(args, begin, end); });
    }

    void prepare_backward() {
        workspace = zero_floats(kernels().attention.backward_workspace(shape));
        forward();
    }

    void backward() {
        const auto& attention = kernels().attention;
        const float *in = qkv.data(), *o = out.data(), *d = dout.data();
        const AttentionBackwardArgs<float> args{shape,
                                                view(in, 3, 0),
                                                view(in, 3, 1),
                                                view(in, 3, 2),
                                                view(o, 1, 0),
                                                view(d, 1, 0),
                                                lse.data(),
                                                view(dqkv.data(), 3, 0),
                                                view(dqkv.data(), 3, 1),
                                                view(dqkv.data(), 3, 2),
                                                workspace.data(),
                                                variant()};
        const auto stage = [&](auto tiles, auto run) {
            run_tiles(tiles(shape), [&](std::int64_t begin, std::int64_t end) { run(args, begin, end); });
        };
        stage(attention.backward_delta_tiles, attention.backward_delta);
        stage(attention.backward_tiles, attention.backward);
        stage(attention.backward_reduce_tiles, attention.backward_reduce);
    }

    void prepare_explicit() {
        lse = {};
        weights = zero_floats(shape.batch * shape.heads * shape.queries * shape.keys);
    }

    /// The path that stores the weights (B,H,T,T).
    void explicit_forward() {
        const float* in = qkv.data();
        const ExplicitAttentionArgs<float> args{shape,          view(in, 3, 0),         view(in, 3, 1),
                                                view(in, 3, 2), view(out.data(), 1, 0), weights.data()};
        run_tiles(kernels().attention.explicit_tiles(shape), [&](std::int64_t begin, std::int64_t end) {
            kernels().attention.explicit_forward(args, begin, end);
        });
    }

    AttentionVariant<float> variant() const {
        AttentionVariant<float> result;
        result.slopes = slopes.empty() ? nullptr : slopes.data();
        result.key_mask = key_mask.empty() ? nullptr : key_mask.data();
        result.dropout = dropout;
        return result;
    }

    AttentionShape shape;
    std::vector<float> slopes;
    std::vector<std::int32_t> key_mask;
    DropoutMask dropout;
    Floats qkv, dout, out, dqkv, lse, workspace, weights;
};

using Operation = void (Operands::*)();

using Change = void (*)(Operands&);

/// `bytes` have to move, of Q, K, V, the output and their gradients; MiB is what a path needs beside those.
void add_attention(const char* name, std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t d, Work work,
                   Operation prepare, Operation run, Change change = nullptr) {
    add_case(fmt::format("{}/f32/B{}H{}T{}D{}", name, b, h, t, d), work, [=] {
        const auto operands = std::make_shared<Operands>(b, h, t, d);
        if (change != nullptr) change(*operands);
        if (prepare != nullptr) (*operands.*prepare)();
        const std::size_t beside = operands->lse.size() + operands->workspace.size() + operands->weights.size();
        return Run([operands, run] { (*operands.*run)(); }, 4 * static_cast<double>(beside));
    });
}

void add_attention_case(std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t d) {
    // Visible pairs only: T(T+1)/2; backward has five products to the forward's two.
    const double flops = 2.0 * static_cast<double>(b * h * d * t * (t + 1));
    const double array = 4.0 * static_cast<double>(b * h * d * t);
    add_attention("attention_fwd", b, h, t, d, {.flops = flops, .bytes = 4 * array}, nullptr, &Operands::forward);
    add_attention("attention_bwd", b, h, t, d, {.flops = 2.5 * flops, .bytes = 8 * array}, &Operands::prepare_backward,
                  &Operands::backward);
}

/// What a variant costs beside plain attention: the same work as far as its shape leaves it.
void add_variant(const char* name, std::int64_t window, Change change) {
    constexpr std::int64_t b = 1, h = 12, t = 1024, d = 64;
    AttentionShape shape{b, h, h, t, t, d, 0.125, true};
    shape.window = window;
    const double product = attention_product_flops(shape), array = 4.0 * static_cast<double>(b * h * d * t);
    const std::string forward = fmt::format("attention_fwd_{}", name), backward = fmt::format("attention_bwd_{}", name);
    add_attention(forward.c_str(), b, h, t, d, {.flops = 2 * product, .bytes = 4 * array}, nullptr, &Operands::forward,
                  change);
    add_attention(backward.c_str(), b, h, t, d, {.flops = 5 * product, .bytes = 8 * array}, &Operands::prepare_backward,
                  &Operands::backward, change);
}

void add_explicit_case(std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t d) {
    const auto pairs = static_cast<double>(b * h * t * t), array = 4.0 * static_cast<double>(b * h * d * t);
    const double flops = 2.0 * static_cast<double>(b * h * d * t * (t + 1));
    add_attention("attention_explicit_fwd", b, h, t, d, {.flops = flops, .bytes = 4 * array + 4 * pairs},
                  &Operands::prepare_explicit, &Operands::explicit_forward);
}

}  // namespace

void register_attention() {
    add_attention_case(4, 12, 64, 64);
    add_attention_case(1, 12, 256, 64);
    add_attention_case(1, 12, 512, 64);
    add_attention_case(1, 12, 1024, 64);
    add_attention_case(1, 4, 2048, 128);
    add_attention_case(1, 12, 4096, 64);
    add_attention_case(8, 4, 12, 8);
    for (std::int64_t tokens : {256, 1024}) add_explicit_case(1, 12, tokens, 64);
    add_variant("window256", 256, [](Operands& o) { o.shape.window = 256; });
    add_variant("alibi", 0, [](Operands& o) {
        for (const double slope : alibi_slopes(o.shape.heads)) o.slopes.push_back(static_cast<float>(slope));
    });
    add_variant("padding", 0, [](Operands& o) { o.key_mask.assign(static_cast<std::size_t>(o.shape.keys), 1); });
    add_variant("dropout", 0, [](Operands& o) { o.dropout = dropout_mask(0.1, 1, 1, 0, 0); });
}

/// Time and memory against the sequence length, tiled and explicit: four heads of 64.
void register_attention_growth() {
    for (std::int64_t tokens = 64; tokens <= 8192; tokens *= 2) {
        add_attention_case(1, 4, tokens, 64);
        add_explicit_case(1, 4, tokens, 64);
    }
}

}  // namespace causeway::bench
