#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "families.hpp"
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
          out(dout.size()),
          dqkv(qkv.size()),
          lse(static_cast<std::size_t>(batch * heads * tokens)) {}

    template <class T>
    HeadsView<T> view(T* data, std::int64_t width, std::int64_t part) const {
        const std::int64_t stride = width * shape.heads * shape.head_dim;
        return {data + part * shape.heads * shape.head_dim, shape.queries * stride, stride, shape.head_dim};
    }

    void forward() {
        const float* in = qkv.data();
        const AttentionForwardArgs<float> args{shape,          view(in, 3, 0),         view(in, 3, 1),
                                               view(in, 3, 2), view(out.data(), 1, 0), lse.data()};
        run_tiles(kernels().attention.forward_tiles(shape),
                  [&](std::int64_t begin, std::int64_t end) { kernels().attention.forward(args, begin, end); });
    }

    void backward() {
        const auto& attention = kernels().attention;
        workspace.resize(static_cast<std::size_t>(attention.backward_workspace(shape)));
        const float *in = qkv.data(), *o = out.data(), *d = dout.data();
        const AttentionBackwardArgs<float> args{
            shape,           view(in, 3, 0), view(in, 3, 1),          view(in, 3, 2),          view(o, 1, 0),
            view(d, 1, 0),   lse.data(),     view(dqkv.data(), 3, 0), view(dqkv.data(), 3, 1), view(dqkv.data(), 3, 2),
            workspace.data()};
        const auto stage = [&](auto tiles, auto run) {
            run_tiles(tiles(shape), [&](std::int64_t begin, std::int64_t end) { run(args, begin, end); });
        };
        stage(attention.backward_delta_tiles, attention.backward_delta);
        stage(attention.backward_tiles, attention.backward);
        stage(attention.backward_reduce_tiles, attention.backward_reduce);
    }

    /// The path that stores the weights (B,H,T,T).
    void explicit_forward() {
        weights.resize(static_cast<std::size_t>(shape.batch * shape.heads * shape.queries * shape.keys));
        const float* in = qkv.data();
        const ExplicitAttentionArgs<float> args{shape,          view(in, 3, 0),         view(in, 3, 1),
                                                view(in, 3, 2), view(out.data(), 1, 0), weights.data()};
        run_tiles(kernels().attention.explicit_tiles(shape), [&](std::int64_t begin, std::int64_t end) {
            kernels().attention.explicit_forward(args, begin, end);
        });
    }

    AttentionShape shape;
    std::vector<float> qkv, dout, out, dqkv, lse, workspace, weights;
};

void add_attention_case(std::int64_t b, std::int64_t h, std::int64_t t, std::int64_t d) {
    const std::string size = fmt::format("f32/B{}H{}T{}D{}", b, h, t, d);
    // Visible pairs only: T(T+1)/2; backward has five products to the forward's two.
    const double flops = 2.0 * static_cast<double>(b * h * d * t * (t + 1));
    const auto make = [=] { return std::make_shared<Operands>(b, h, t, d); };
    add_case("attention_fwd/" + size, {.flops = flops}, [=] { return [operands = make()] { operands->forward(); }; });
    add_case("attention_bwd/" + size, {.flops = 2.5 * flops}, [=] {
        const auto operands = make();
        operands->forward();
        return [operands] { operands->backward(); };
    });
    if (t > 1024) return;
    add_case("attention_explicit_fwd/" + size, {.flops = flops},
             [=] { return [operands = make()] { operands->explicit_forward(); }; });
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
}

}  // namespace causeway::bench
