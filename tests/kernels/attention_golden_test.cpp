#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/alibi.hpp"
#include "base/isa.hpp"
#include "kernels/kernel_table.hpp"
#include "support/catch.hpp"
#include "support/golden_ops.hpp"

// PyTorch's numbers for attention and softmax (tests/golden/README.md) against the kernels of every ISA.

using namespace causeway;
using namespace causeway::kernels;

namespace {

template <class T>
std::vector<T> numbers(const nlohmann::json& golden, const char* field) {
    std::vector<T> values;
    for (const auto& x : golden.at(field)) values.push_back(x.is_null() ? T(NAN) : static_cast<T>(x.get<double>()));
    return values;
}

/// The largest |x - golden| / (1 + |golden|).
template <class T>
double difference(const std::vector<T>& x, const nlohmann::json& golden, const char* field) {
    const auto expected = numbers<double>(golden, field);
    REQUIRE(x.size() == expected.size());
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double d = std::abs(static_cast<double>(x[i]) - expected[i]) / (1 + std::abs(expected[i]));
        worst = d <= worst ? worst : std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
    }
    return worst;
}

/// Self-attention over one (B,T,3D) buffer, as a plan lays it out.
template <class T>
struct SelfAttention {
    explicit SelfAttention(const nlohmann::json& golden)
        : shape{golden.at("B"),
                golden.at("H"),
                golden.value("Hkv", golden.at("H").get<std::int64_t>()),
                golden.at("T"),
                golden.at("T"),
                golden.at("Dh"),
                golden.value("scale", 1 / std::sqrt(golden.at("Dh").get<double>())),
                golden.value("causal", true),
                golden.value("window", std::int64_t{0})},
          qkv(numbers<T>(golden, "qkv")),
          dout(numbers<T>(golden, "dout")),
          out(dout.size()),
          dqkv(qkv.size()),
          lse(static_cast<std::size_t>(shape.batch * shape.heads * shape.queries)),
          weights(lse.size() * static_cast<std::size_t>(shape.keys)),
          dscores(weights.size()),
          mask(golden.value("mask", std::vector<std::uint8_t>())),
          key_mask(golden.value("key_mask", std::vector<std::int32_t>())) {
        if (!golden.value("alibi", false)) return;
        for (const double slope : alibi_slopes(shape.heads)) slopes.push_back(static_cast<T>(slope));
    }

    /// Heads from `first` on of rows of so many `heads`.
    template <class U>
    HeadsView<U> part(U* data, std::int64_t heads, std::int64_t first) const {
        const std::int64_t stride = heads * shape.head_dim;
        return {data + first * shape.head_dim, shape.queries * stride, stride, shape.head_dim};
    }
    template <class U>
    HeadsView<U> q_of(U* data) const {
        return part(data, shape.heads + 2 * shape.kv_heads, 0);
    }
    template <class U>
    HeadsView<U> k_of(U* data) const {
        return part(data, shape.heads + 2 * shape.kv_heads, shape.heads);
    }
    template <class U>
    HeadsView<U> v_of(U* data) const {
        return part(data, shape.heads + 2 * shape.kv_heads, shape.heads + shape.kv_heads);
    }

    AttentionVariant<T> variant() const {
        AttentionVariant<T> result;
        const std::int64_t matrix = shape.queries * shape.keys;
        const bool shared = static_cast<std::int64_t>(mask.size()) == matrix;
        if (!mask.empty()) {
            result.mask = {mask.data(), shared ? 0 : shape.heads * matrix, shared ? 0 : matrix, shape.keys};
        }
        result.key_mask = key_mask.empty() ? nullptr : key_mask.data();
        result.slopes = slopes.empty() ? nullptr : slopes.data();
        return result;
    }

    void run_tiled(const AttentionKernels<T>& kernels) {
        const T *in = qkv.data(), *o = out.data(), *d = dout.data();
        T* gradient = dqkv.data();
        const std::int64_t h = shape.heads;
        std::vector<T> workspace(static_cast<std::size_t>(kernels.backward_workspace(shape)));
        const AttentionForwardArgs<T> args{shape,      q_of(in), k_of(in), v_of(in), part(out.data(), h, 0),
                                           lse.data(), variant()};
        kernels.forward(args, 0, kernels.forward_tiles(shape));
        const AttentionBackwardArgs<T> back{shape,          q_of(in),       k_of(in),         v_of(in),
                                            part(o, h, 0),  part(d, h, 0),  lse.data(),       q_of(gradient),
                                            k_of(gradient), v_of(gradient), workspace.data(), variant()};
        kernels.backward_delta(back, 0, kernels.backward_delta_tiles(shape));
        kernels.backward(back, 0, kernels.backward_tiles(shape));
        kernels.backward_reduce(back, 0, kernels.backward_reduce_tiles(shape));
    }

    void run_explicit(const AttentionKernels<T>& kernels) {
        const T *in = qkv.data(), *d = dout.data();
        T* gradient = dqkv.data();
        const std::int64_t h = shape.heads;
        const ExplicitAttentionArgs<T> args{shape,          q_of(in), k_of(in), v_of(in), part(out.data(), h, 0),
                                            weights.data(), variant()};
        kernels.explicit_forward(args, 0, kernels.explicit_tiles(shape));
        const ExplicitAttentionBackwardArgs<T> back{shape,          q_of(in),       k_of(in),       v_of(in),
                                                    part(d, h, 0),  weights.data(), q_of(gradient), k_of(gradient),
                                                    v_of(gradient), dscores.data(), variant()};
        kernels.explicit_backward(back, 0, kernels.explicit_backward_tiles(shape));
    }

    AttentionShape shape;
    std::vector<T> qkv, dout, out, dqkv, lse, weights, dscores;
    std::vector<std::uint8_t> mask;
    std::vector<std::int32_t> key_mask;
    std::vector<T> slopes;
};

/// The tiled backward recomputes P = exp(S - lse): what float rounds off a large score or lse is P's relative error.
template <class T>
double lse_rounding(const nlohmann::json& golden) {
    double largest = 0;
    if (!golden.contains("lse")) return 0;
    for (const double lse : numbers<double>(golden, "lse")) largest = std::max(largest, std::abs(lse));
    return 4 * largest * static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <class T>
void check_attention(const AttentionKernels<T>& kernels, const nlohmann::json& golden, double tolerance) {
    SelfAttention<T> tiled(golden), stored(golden);
    tiled.run_tiled(kernels);
    CHECK(difference(tiled.out, golden, "out") < tolerance);
    if (golden.contains("lse")) CHECK(difference(tiled.lse, golden, "lse") < tolerance);
    CHECK(difference(tiled.dqkv, golden, "dqkv") < tolerance + lse_rounding<T>(golden));
    stored.run_explicit(kernels);
    CHECK(difference(stored.out, golden, "out") < tolerance);
    CHECK(difference(stored.weights, golden, "weights") < tolerance);
    CHECK(difference(stored.dqkv, golden, "dqkv") < tolerance);
}

template <class T>
void check_softmax(const SoftmaxKernels<T>& kernels, const nlohmann::json& golden, double tolerance) {
    const std::int64_t rows = golden.at("rows"), cols = golden.at("cols");
    const auto x = numbers<T>(golden, "x"), dy = numbers<T>(golden, "dy");
    std::vector<T> y(x.size()), dx(x.size());
    kernels.forward(x.data(), y.data(), cols, 0, rows);
    kernels.backward(y.data(), dy.data(), dx.data(), cols, 0, rows);
    CHECK(difference(y, golden, "y") < tolerance);
    CHECK(difference(dx, golden, "dx") < tolerance);
}

}  // namespace

TEST_CASE("attention: PyTorch's outputs, weights and gradients") {
    nlohmann::json goldens = golden_cases("attention");
    for (const auto& golden : golden_cases("attention_variants")) goldens.push_back(golden);
    for (const auto& golden : goldens) {
        INFO(golden.at("name").get<std::string>());
        check_attention(reference_table<double>().attention, golden, 1e-11);  // the file has 13 digits
        for (Isa isa : available_isas()) {
            INFO(to_string(isa));
            check_attention(kernel_table(isa).attention, golden, 1e-5);
        }
    }
}

TEST_CASE("softmax: PyTorch's outputs and gradients") {
    for (const auto& golden : golden_cases("softmax")) {
        INFO(golden.at("name").get<std::string>());
        check_softmax(reference_table<double>().softmax, golden, 1e-12);
        for (Isa isa : available_isas()) {
            INFO(to_string(isa));
            check_softmax(kernel_table(isa).softmax, golden, 1e-6);
        }
    }
}
