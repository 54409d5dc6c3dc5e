#include <algorithm>

#include "kernels/guarded.hpp"

using namespace causeway;
using namespace causeway::kernels;

namespace {

constexpr Activation activations[] = {Activation::none, Activation::gelu_tanh, Activation::gelu_erf, Activation::silu,
                                      Activation::relu};
constexpr float inf = std::numeric_limits<float>::infinity();

float forward_at(const KernelTable<float>& table, Activation kind, float x) {
    float y = 0;
    table.elementwise.activation_forward(kind, &x, &y, 0, 1);
    return y;
}

float gradient_at(const KernelTable<float>& table, Activation kind, float x) {
    const float dy = 1;
    float dx = 0;
    table.elementwise.activation_backward(kind, &x, &dy, &dx, 0, 1);
    return dx;
}

/// body(begin, end) over [0, n) in pieces of growing length.
template <class Body>
void in_pieces(std::int64_t n, Body body) {
    for (std::int64_t begin = 0, length = 1; begin < n; begin += length, ++length) {
        body(begin, std::min(n, begin + length));
    }
}

}  // namespace

TEST_CASE("Activations and their gradients agree with the reference in double") {
    const auto& reference = reference_table<double>().elementwise;
    for (const std::int64_t n : awkward_lengths()) {
        const auto x = random_values<float>(n, 1, -6, 6);
        const auto dy = random_values<float>(n, 2, -2, 2);
        const auto x_double = random_values<double>(n, 1, -6, 6);
        const auto dy_double = random_values<double>(n, 2, -2, 2);
        for (const Activation kind : activations) {
            CAPTURE(n, static_cast<int>(kind));
            Guarded<double> expected(n), expected_dx(n);
            reference.activation_forward(kind, x_double.data(), expected.data(), 0, n);
            reference.activation_backward(kind, x_double.data(), dy_double.data(), expected_dx.data(), 0, n);
            for_each_isa([&](const KernelTable<float>& table) {
                Guarded<float> y(n), dx(n);
                table.elementwise.activation_forward(kind, x.data(), y.data(), 0, n);
                table.elementwise.activation_backward(kind, x.data(), dy.data(), dx.data(), 0, n);
                // A few ulp of 1, the largest intermediate value near the zeros of GELU and of its derivative.
                CHECK(worst_error(y, expected, 2e-7, 5e-7) <= 1);
                CHECK(worst_error(dx, expected_dx, 1e-6, 1e-6) <= 1);
                CHECK((y.margins_intact() && dx.margins_intact()));
                // In place and in pieces: the same bits.
                Guarded<float> in_place = x, in_place_dx = dy;
                in_pieces(n, [&](std::int64_t begin, std::int64_t end) {
                    table.elementwise.activation_backward(kind, x.data(), in_place_dx.data(), in_place_dx.data(), begin,
                                                          end);
                    table.elementwise.activation_forward(kind, in_place.data(), in_place.data(), begin, end);
                });
                CHECK(in_place.same_bits(y));
                CHECK(in_place_dx.same_bits(dx));
                CHECK((in_place.margins_intact() && in_place_dx.margins_intact()));
            });
        }
    }
}

TEST_CASE("The reference's activation gradients agree with central differences") {
    const auto& reference = reference_table<double>().elementwise;
    for (const Activation kind : activations) {
        for (double x = -5; x <= 5; x += 0.37) {
            constexpr double h = 1e-5;
            const double around[2] = {x - h, x + h};
            const double one = 1;
            double y[2] = {}, dx = 0;
            reference.activation_forward(kind, around, y, 0, 2);
            reference.activation_backward(kind, &x, &one, &dx, 0, 1);
            CHECK(std::abs((y[1] - y[0]) / (2 * h) - dx) <= 1e-9);
        }
    }
}

TEST_CASE("B12: the derivative of GELU is 0 or 1 beyond |x| = 20, finite everywhere") {
    for_each_isa([](const KernelTable<float>& table) {
        for (const Activation kind : {Activation::gelu_tanh, Activation::gelu_erf}) {
            for (const float magnitude : {20.0f, 50.0f, 100.0f, 1e4f, 1e30f, inf}) {
                CHECK(gradient_at(table, kind, magnitude) == 1.0f);
                CHECK(gradient_at(table, kind, -magnitude) == 0.0f);
                CHECK(forward_at(table, kind, magnitude) == magnitude);
                CHECK(forward_at(table, kind, -magnitude) == 0.0f);
            }
            // d/dx at +-1: 1.0829641 and -0.0829641 (tanh), 1.0833155 and -0.0833155 (erf).
            const double bend = kind == Activation::gelu_tanh ? 0.0829641 : 0.0833155;
            CHECK(std::abs(static_cast<double>(gradient_at(table, kind, 1)) - 1 - bend) <= 1e-6);
            CHECK(std::abs(static_cast<double>(gradient_at(table, kind, -1)) + bend) <= 1e-6);
            for (float x = -30; x <= 30; x += 0.01f) {
                if (!std::isfinite(gradient_at(table, kind, x))) FAIL_CHECK("not finite at " << x);
            }
            CHECK(std::isnan(forward_at(table, kind, std::nanf(""))));
            CHECK(std::isnan(gradient_at(table, kind, std::nanf(""))));
        }
    });
}

TEST_CASE("SiLU and ReLU have the right limits and a finite derivative everywhere") {
    for_each_isa([](const KernelTable<float>& table) {
        for (const Activation kind : {Activation::silu, Activation::relu}) {
            for (const float magnitude : {120.0f, 1e4f, 1e30f, inf}) {
                CHECK(forward_at(table, kind, magnitude) == magnitude);
                CHECK(forward_at(table, kind, -magnitude) == 0.0f);
                CHECK(gradient_at(table, kind, magnitude) == 1.0f);
                CHECK(std::abs(gradient_at(table, kind, -magnitude)) <= 1e-30f);
            }
            for (float x = -130; x <= 130; x += 0.1f) {
                if (!std::isfinite(gradient_at(table, kind, x))) FAIL_CHECK("not finite at " << x);
                if (!std::isfinite(forward_at(table, kind, x))) FAIL_CHECK("not finite at " << x);
            }
            CHECK(std::isnan(forward_at(table, kind, std::nanf(""))));
        }
        CHECK(gradient_at(table, Activation::relu, 0) == 0.0f);
        CHECK(gradient_at(table, Activation::silu, 0) == 0.5f);
    });
}

TEST_CASE("add and fill touch their range only, in place too") {
    for (const std::int64_t n : awkward_lengths()) {
        const auto a = random_values<float>(n, 3), b = random_values<float>(n, 4);
        for_each_isa([&](const KernelTable<float>& table) {
            Guarded<float> sum = a, filled = b;
            const std::int64_t begin = n / 3, end = n - n / 4;
            table.elementwise.add(sum.data(), b.data(), sum.data(), begin, end);
            table.elementwise.fill(filled.data(), 2.5f, begin, end);
            bool right = true;
            for (std::int64_t i = 0; i < n; ++i) {
                const bool inside = i >= begin && i < end;
                right = right && sum[i] == (inside ? a[i] + b[i] : a[i]) && filled[i] == (inside ? 2.5f : b[i]);
            }
            CHECK(right);
            CHECK((sum.margins_intact() && filled.margins_intact()));
        });
    }
}

TEST_CASE("Column sums add rows in order, whatever the column range") {
    for (const std::int64_t rows : {0, 1, 2, 7, 33}) {
        for (const std::int64_t cols : awkward_lengths()) {
            CAPTURE(rows, cols);
            const std::int64_t ld = cols + 3;
            const auto x = random_values<float>(rows * ld, 5);
            const auto before = random_values<float>(cols, 6);
            for_each_isa([&](const KernelTable<float>& table) {
                for (const bool accumulate : {false, true}) {
                    // Sums in float, in the order of the rows: exactly what a plain loop gives.
                    Guarded<float> expected(cols), whole = before, pieces = before;
                    for (std::int64_t c = 0; c < cols; ++c) {
                        float sum = 0;
                        for (std::int64_t r = 0; r < rows; ++r) sum += x[r * ld + c];
                        expected[c] = accumulate ? before[c] + sum : sum;
                    }
                    table.elementwise.column_sums(x.data(), ld, rows, whole.data(), accumulate, 0, cols);
                    in_pieces(cols, [&](std::int64_t begin, std::int64_t end) {
                        table.elementwise.column_sums(x.data(), ld, rows, pieces.data(), accumulate, begin, end);
                    });
                    CHECK(whole.same_bits(expected));
                    CHECK(pieces.same_bits(expected));
                    CHECK(pieces.margins_intact());
                }
            });
        }
    }
}
