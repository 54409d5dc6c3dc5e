#include <algorithm>
#include <tuple>

#include "base/ceil_div.hpp"
#include "base/format.hpp"
#include "families.hpp"
#include "support/bench.hpp"

namespace causeway::bench {
namespace {

/// The size of the activations of a GPT-2 layer at 256 tokens.
constexpr std::int64_t rows = 256, cols = 3072;

/// body(begin, end) over n elements, in pieces a thread can take.
template <class Body>
void run_elements(std::int64_t n, Body body) {
    constexpr std::int64_t piece = 4096;
    run_tiles(ceil_div(n, piece),
              [&](std::int64_t begin, std::int64_t end) { body(begin * piece, std::min(n, end * piece)); });
}

using Map = void (*)(const kernels::ElementwiseKernels<float>& kernels, const float* x, const float* dy, float* y,
                     std::int64_t begin, std::int64_t end);

/// A map over rows x cols elements that reads `inputs` arrays and does about so many FLOPs an element.
void add_map(const char* name, int inputs, double flops, Map map) {
    const auto elements = static_cast<double>(rows * cols);
    const Work work{.flops = flops * elements, .bytes = 4 * (inputs + 1) * elements, .stream = Stream::copy};
    add_case(fmt::format("{}/f32/{}x{}", name, rows, cols), work, [map] {
        auto x = random_floats(rows * cols, 1), dy = random_floats(rows * cols, 2), y = zero_floats(rows * cols);
        for (float& value : x) value *= 4;  // both ends of GELU
        return [=]() mutable {
            run_elements(rows * cols, [&](std::int64_t begin, std::int64_t end) {
                map(kernels().elementwise, x.data(), dy.data(), y.data(), begin, end);
            });
        };
    });
}

using Kernels = kernels::ElementwiseKernels<float>;
using kernels::Activation;

template <Activation kind>
void forward(const Kernels& kernels, const float* x, const float*, float* y, std::int64_t begin, std::int64_t end) {
    kernels.activation_forward(kind, x, y, begin, end);
}

template <Activation kind>
void backward(const Kernels& kernels, const float* x, const float* dy, float* y, std::int64_t begin, std::int64_t end) {
    kernels.activation_backward(kind, x, dy, y, begin, end);
}

void add(const Kernels& kernels, const float* x, const float* dy, float* y, std::int64_t begin, std::int64_t end) {
    kernels.add(x, dy, y, begin, end);
}

template <auto function>
void apply(const Kernels& kernels, const float* x, const float*, float* y, std::int64_t begin, std::int64_t end) {
    (kernels.*function)(x, y, begin, end);
}

/// SwiGLU of MiniMind's width: reads gate and up, writes their product, or their gradients in their place.
void add_swiglu() {
    constexpr std::int64_t features = 2432;
    constexpr auto elements = static_cast<double>(rows * features);
    const auto operands = [] {
        return std::make_tuple(random_floats(rows * 2 * features, 1), random_floats(rows * features, 2));
    };
    const Work forward_work{.flops = 18 * elements, .bytes = 12 * elements, .stream = Stream::copy};
    add_case(fmt::format("swiglu/f32/{}x{}", rows, features), forward_work, [operands] {
        return [data = operands()]() mutable {
            auto& [gate_up, y] = data;
            run_tiles(rows, [&](std::int64_t begin, std::int64_t end) {
                kernels().gated.forward(Activation::silu, gate_up.data(), y.data(), features, begin, end);
            });
        };
    });
    const Work backward_work{.flops = 24 * elements, .bytes = 20 * elements, .stream = Stream::copy};
    add_case(fmt::format("swiglu_bwd/f32/{}x{}", rows, features), backward_work, [operands] {
        return [data = operands(), to = zero_floats(rows * 2 * features)]() mutable {
            auto& [gate_up, dy] = data;
            run_tiles(rows, [&, from = gate_up.data(), d = dy.data()](std::int64_t begin, std::int64_t end) {
                kernels().gated.backward(Activation::silu, from, d, to.data(), features, begin, end);
            });
        };
    });
}

}  // namespace

void register_elementwise() {
    add_map("gelu_tanh", 1, 20, forward<Activation::gelu_tanh>);
    add_map("gelu_erf", 1, 20, forward<Activation::gelu_erf>);
    add_map("gelu_tanh_bwd", 2, 30, backward<Activation::gelu_tanh>);
    add_map("gelu_erf_bwd", 2, 30, backward<Activation::gelu_erf>);
    add_map("silu", 1, 16, forward<Activation::silu>);
    add_map("silu_bwd", 2, 22, backward<Activation::silu>);
    add_map("add", 2, 1, add);
    add_swiglu();
    add_map("exp", 1, 16, apply<&Kernels::exp>);
    add_map("tanh", 1, 18, apply<&Kernels::tanh>);
    add_map("erf", 1, 18, apply<&Kernels::erf>);
    const auto elements = static_cast<double>(rows * cols);
    const Work sums{.flops = elements, .bytes = 4 * elements, .stream = Stream::read};
    add_case(fmt::format("column_sums/f32/{}x{}", rows, cols), sums, [] {
        auto x = random_floats(rows * cols, 1), y = zero_floats(cols);
        return [=]() mutable {
            run_tiles(cols / 128, [&](std::int64_t begin, std::int64_t end) {
                kernels().elementwise.column_sums(x.data(), cols, rows, y.data(), false, begin * 128, end * 128);
            });
        };
    });
}

}  // namespace causeway::bench
