#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/isa.hpp"
#include "kernels/kernel_table.hpp"
#include "support/catch.hpp"

// PyTorch's numbers for causal attention and softmax (tests/golden/README.md) against the kernels of every ISA.

using namespace causeway;
using namespace causeway::kernels;

namespace {

nlohmann::json cases_of(const std::string& name) {
    std::ifstream file(fmt::format("{}/golden/ops/{}.json", CAUSEWAY_TESTS_DIR, name));
    REQUIRE(file);
    return nlohmann::json::parse(file);
}

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
                golden.at("H"),
                golden.at("T"),
                golden.at("T"),
                golden.at("Dh"),
                1 / std::sqrt(golden.at("Dh").get<double>()),
                true},
          qkv(numbers<T>(golden, "qkv")),
          dout(numbers<T>(golden, "dout")),
          out(dout.size()),
          dqkv(qkv.size()),
          lse(static_cast<std::size_t>(shape.batch * shape.heads * shape.queries)),
          weights(lse.size() * static_cast<std::size_t>(shape.keys)),
          dscores(weights.size()) {}

    template <class U>
    HeadsView<U> part(U* data, std::int64_t width, std::int64_t index) const {
        const std::int64_t stride = width * shape.heads * shape.head_dim;
        return {data + index * shape.heads * shape.head_dim, shape.queries * stride, stride, shape.head_dim};
    }

    void run_tiled(const AttentionKernels<T>& kernels) {
        const T *in = qkv.data(), *o = out.data(), *d = dout.data();
        std::vector<T> workspace(static_cast<std::size_t>(kernels.backward_workspace(shape)));
        const AttentionForwardArgs<T> args{shape,          part(in, 3, 0),         part(in, 3, 1),
                                           part(in, 3, 2), part(out.data(), 1, 0), lse.data()};
        kernels.forward(args, 0, kernels.forward_tiles(shape));
        const AttentionBackwardArgs<T> back{
            shape,           part(in, 3, 0), part(in, 3, 1),          part(in, 3, 2),          part(o, 1, 0),
            part(d, 1, 0),   lse.data(),     part(dqkv.data(), 3, 0), part(dqkv.data(), 3, 1), part(dqkv.data(), 3, 2),
            workspace.data()};
        kernels.backward_delta(back, 0, kernels.backward_delta_tiles(shape));
        kernels.backward(back, 0, kernels.backward_tiles(shape));
        kernels.backward_reduce(back, 0, kernels.backward_reduce_tiles(shape));
    }

    void run_explicit(const AttentionKernels<T>& kernels) {
        const T *in = qkv.data(), *d = dout.data();
        const ExplicitAttentionArgs<T> args{shape,          part(in, 3, 0),         part(in, 3, 1),
                                            part(in, 3, 2), part(out.data(), 1, 0), weights.data()};
        kernels.explicit_forward(args, 0, kernels.explicit_tiles(shape));
        const ExplicitAttentionBackwardArgs<T> back{
            shape,          part(in, 3, 0),          part(in, 3, 1),          part(in, 3, 2),          part(d, 1, 0),
            weights.data(), part(dqkv.data(), 3, 0), part(dqkv.data(), 3, 1), part(dqkv.data(), 3, 2), dscores.data()};
        kernels.explicit_backward(back, 0, kernels.explicit_backward_tiles(shape));
    }

    AttentionShape shape;
    std::vector<T> qkv, dout, out, dqkv, lse, weights, dscores;
};

/// The tiled backward recomputes P = exp(S - lse): what float rounds off a large score or lse is P's relative error.
template <class T>
double lse_rounding(const nlohmann::json& golden) {
    double largest = 0;
    for (const double lse : numbers<double>(golden, "lse")) largest = std::max(largest, std::abs(lse));
    return 4 * largest * static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <class T>
void check_attention(const AttentionKernels<T>& kernels, const nlohmann::json& golden, double tolerance) {
    SelfAttention<T> tiled(golden), stored(golden);
    tiled.run_tiled(kernels);
    CHECK(difference(tiled.out, golden, "out") < tolerance);
    CHECK(difference(tiled.lse, golden, "lse") < tolerance);
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
    for (const auto& golden : cases_of("attention")) {
        INFO(golden.at("name").get<std::string>());
        check_attention(reference_table<double>().attention, golden, 1e-11);  // the file has 13 digits
        for (Isa isa : available_isas()) {
            INFO(to_string(isa));
            check_attention(kernel_table(isa).attention, golden, 1e-5);
        }
    }
}

TEST_CASE("softmax: PyTorch's outputs and gradients") {
    for (const auto& golden : cases_of("softmax")) {
        INFO(golden.at("name").get<std::string>());
        check_softmax(reference_table<double>().softmax, golden, 1e-12);
        for (Isa isa : available_isas()) {
            INFO(to_string(isa));
            check_softmax(kernel_table(isa).softmax, golden, 1e-6);
        }
    }
}
