#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "attention_problem.hpp"
#include "base/format.hpp"
#include "base/isa.hpp"
#include "support/catch.hpp"

// How the tests of attention compare.

namespace causeway::kernels::test {

inline std::string describe(Isa isa, const AttentionShape& s) {
    return fmt::format("{} B{} H{}/{} Tq{} Tk{} D{} {} window {}", to_string(isa), s.batch, s.heads, s.kv_heads,
                       s.queries, s.keys, s.head_dim, s.causal ? "causal" : "full", s.window);
}

/// The largest |x - y| / (1 + |y|); infinite when one of them is and the other is not the same, or either is NaN.
template <class X, class Y>
double difference(const std::vector<X>& x, const std::vector<Y>& y) {
    double worst = x.size() == y.size() ? 0 : std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
        const double a = static_cast<double>(x[i]), b = static_cast<double>(y[i]);
        if (a == b) continue;
        const double d = std::abs(a - b) / (1 + std::abs(b));
        worst = d <= worst ? worst : std::isnan(d) ? std::numeric_limits<double>::infinity() : d;
    }
    return worst;
}

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
    return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

/// Inputs are normal, so scores are of order 1 and outputs of order 1: a dot product of up to 256 terms and an average
/// of up to 1030 err by a few float ulp (6e-8 each). Gradients of a key sum up to 1030 queries' contributions.
inline constexpr double forward_tolerance = 3e-6;
inline constexpr double backward_tolerance = 1e-5;

/// sum(dout o out) of the double reference, the loss that finite differences are taken of.
inline double loss(Problem<double>& problem) {
    problem.forward(reference_table<double>().attention);
    const auto out = problem.out.values(), dout = problem.dout.values();
    double sum = 0;
    for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * dout[i];
    return sum;
}

/// Compares a gradient with central differences of every element of the input it belongs to.
inline void check_differences(Problem<double>& problem, Heads<double>& input, const std::vector<double>& gradient) {
    constexpr double step = 1e-5;
    std::size_t i = 0;
    double worst = 0;
    input.each([&](double& x) {
        const double kept = x;
        x = kept + step;
        const double above = loss(problem);
        x = kept - step;
        const double below = loss(problem);
        x = kept;
        worst = std::max(worst, std::abs((above - below) / (2 * step) - gradient[i++]));
    });
    CHECK(i == gradient.size());
    CHECK(worst < 1e-8);  // rounding 1e-16 / step, truncation step^2
}

/// Gradients as expected, and nothing written beside them.
inline void check_gradients(const Problem<float>& got, const Problem<double>& expected) {
    CHECK(difference(got.dq.values(), expected.dq.values()) < backward_tolerance);
    CHECK(difference(got.dk.values(), expected.dk.values()) < backward_tolerance);
    CHECK(difference(got.dv.values(), expected.dv.values()) < backward_tolerance);
    CHECK(got.clean());
}

/// Runs the tiled path of an ISA and compares everything it makes.
inline void check_tiled(Problem<float>& got, Isa isa, const Problem<double>& expected) {
    got.forward(kernel_table(isa).attention);
    CHECK(difference(got.out.values(), expected.out.values()) < forward_tolerance);
    CHECK(difference(got.lse, expected.lse) < forward_tolerance);
    got.backward(kernel_table(isa).attention);
    check_gradients(got, expected);
}

/// The same for the explicit path.
inline void check_explicit(Problem<float>& got, Isa isa, const Problem<double>& expected) {
    got.explicit_forward(kernel_table(isa).attention);
    CHECK(difference(got.out.values(), expected.out.values()) < forward_tolerance);
    CHECK(difference(got.weights, expected.weights) < forward_tolerance);
    got.explicit_backward(kernel_table(isa).attention);
    CHECK(difference(got.dscores, expected.dscores) < backward_tolerance);
    check_gradients(got, expected);
}

/// Runs every stage of the tiled path tile by tile, the last one first, and compares its bits with a run as a whole.
inline void check_split(Problem<float>& whole, Problem<float>& split, Isa isa) {
    const auto& kernels = kernel_table(isa).attention;
    const AttentionShape& shape = whole.shape;
    whole.forward(kernels);
    whole.backward(kernels);
    const auto forward_args = split.forward_args();
    for (std::int64_t t = kernels.forward_tiles(shape); t-- > 0;) kernels.forward(forward_args, t, t + 1);
    const auto args = split.backward_args(kernels);
    for (std::int64_t t = kernels.backward_delta_tiles(shape); t-- > 0;) kernels.backward_delta(args, t, t + 1);
    for (std::int64_t t = kernels.backward_tiles(shape); t-- > 0;) kernels.backward(args, t, t + 1);
    for (std::int64_t t = kernels.backward_reduce_tiles(shape); t-- > 0;) kernels.backward_reduce(args, t, t + 1);
    CHECK(same_bits(whole.out.values(), split.out.values()));
    CHECK(same_bits(whole.lse, split.lse));
    CHECK(same_bits(whole.dq.values(), split.dq.values()));
    CHECK(same_bits(whole.dk.values(), split.dk.values()));
    CHECK(same_bits(whole.dv.values(), split.dv.values()));
}

}  // namespace causeway::kernels::test
