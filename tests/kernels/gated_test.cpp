#include <algorithm>

#include "kernels/guarded.hpp"

using namespace causeway;
using namespace causeway::kernels;

namespace {

constexpr Activation activations[] = {Activation::none, Activation::gelu_tanh, Activation::gelu_erf, Activation::silu,
                                      Activation::relu};

}  // namespace

TEST_CASE("Gated activations and their gradients agree with the reference in double, in place and in pieces") {
    constexpr std::int64_t rows = 3;
    const auto& reference = reference_table<double>().gated;
    for (const std::int64_t features : awkward_lengths()) {
        const auto x = random_values<float>(rows * 2 * features, 1, -6, 6),
                   dy = random_values<float>(rows * features, 2);
        const auto x_double = random_values<double>(rows * 2 * features, 1, -6, 6);
        const auto dy_double = random_values<double>(rows * features, 2);
        for (const Activation kind : activations) {
            CAPTURE(features, static_cast<int>(kind));
            Guarded<double> expected(rows * features), expected_dx(rows * 2 * features);
            reference.forward(kind, x_double.data(), expected.data(), features, 0, rows);
            reference.backward(kind, x_double.data(), dy_double.data(), expected_dx.data(), features, 0, rows);
            for_each_isa([&](const KernelTable<float>& table) {
                Guarded<float> y(rows * features), dx(rows * 2 * features);
                table.gated.forward(kind, x.data(), y.data(), features, 0, rows);
                table.gated.backward(kind, x.data(), dy.data(), dx.data(), features, 0, rows);
                CHECK(worst_error(y, expected, 2e-6, 1e-6) <= 1);
                CHECK(worst_error(dx, expected_dx, 6e-6, 2e-6) <= 1);
                CHECK((y.margins_intact() && dx.margins_intact()));
                Guarded<float> in_place = x, y_pieces(rows * features);
                for (std::int64_t r = rows - 1; r >= 0; --r) {
                    table.gated.forward(kind, x.data(), y_pieces.data(), features, r, r + 1);
                    table.gated.backward(kind, in_place.data(), dy.data(), in_place.data(), features, r, r + 1);
                }
                CHECK(y_pieces.same_bits(y));
                CHECK(in_place.same_bits(dx));
                CHECK((in_place.margins_intact() && y_pieces.margins_intact()));
            });
        }
    }
}

TEST_CASE("SwiGLU has the values of its formula") {
    for_each_isa([](const KernelTable<float>& table) {
        const float x[4] = {1, -2, 3, 5};  // gates 1, -2, ups 3, 5
        float y[2] = {};
        table.gated.forward(Activation::silu, x, y, 2, 0, 1);
        CHECK(y[0] == Approx(3 * 0.7310585786).epsilon(1e-6));
        CHECK(y[1] == Approx(5 * -2 * 0.1192029220).epsilon(1e-6));
    });
}
