#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/format.hpp"
#include "base/isa.hpp"
#include "kernels/kernel_table.hpp"
#include "support/catch.hpp"

using namespace causeway;
using namespace causeway::kernels;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<std::int64_t> widths() {
    std::vector<std::int64_t> all{0, 67, 97, 257, 512, 1000};
    for (std::int64_t n = 1; n <= 40; ++n) all.push_back(n);
    return all;
}

std::vector<float> random_floats(std::int64_t n, float spread, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal(0, spread);
    std::vector<float> x(static_cast<std::size_t>(n));
    for (float& value : x) value = normal(random);
    return x;
}

/// One element before (so that nothing is aligned) and one behind, which must stay.
struct Guarded {
    explicit Guarded(std::vector<float> values) : data(std::move(values)) {
        data.insert(data.begin(), 99.0f);
        data.push_back(99.0f);
    }
    float* begin() { return data.data() + 1; }
    bool clean() const { return data.front() == 99.0f && data.back() == 99.0f; }
    std::vector<float> data;
};

double worst(const float* got, const std::vector<double>& expected) {
    double most = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double d = std::abs(static_cast<double>(got[i]) - expected[i]);
        most = d <= most ? most : std::isnan(d) ? static_cast<double>(infinity) : d;
    }
    return most;
}

}  // namespace

TEST_CASE("softmax: forward matches the reference, in place or not, with any split of rows") {
    const std::int64_t rows = 5;
    for (const std::int64_t cols : widths()) {
        for (const float spread : {1.0f, 30.0f}) {
            const auto x = random_floats(rows * cols, spread, 3);
            const std::vector<double> wide(x.begin(), x.end());
            std::vector<double> expected(wide.size());
            reference_table<double>().softmax.forward(wide.data(), expected.data(), cols, 0, rows);
            for (Isa isa : available_isas()) {
                INFO(to_string(isa) << " cols " << cols << " spread " << spread);
                const auto& softmax = kernel_table(isa).softmax;
                Guarded in(x), out(std::vector<float>(x.size(), -1.0f)), split = out, in_place(x);
                softmax.forward(in.begin(), out.begin(), cols, 0, rows);
                // A weight is at most 1; exp errs by 1 ulp, the sum and the division by a few more.
                CHECK(worst(out.begin(), expected) < 5e-7);
                for (std::int64_t r = rows; r-- > 0;) softmax.forward(in.begin(), split.begin(), cols, r, r + 1);
                softmax.forward(in_place.begin(), in_place.begin(), cols, 0, rows);
                CHECK(split.data == out.data);
                CHECK(in_place.data == out.data);
                CHECK((out.clean() && in.clean() && in_place.clean()));
            }
        }
    }
}

TEST_CASE("softmax: backward matches the reference, which matches finite differences") {
    const std::int64_t rows = 3;
    for (const std::int64_t cols : widths()) {
        const auto x = random_floats(rows * cols, 1.0f, 5), dy = random_floats(rows * cols, 1.0f, 6);
        const std::vector<double> wide_x(x.begin(), x.end()), wide_dy(dy.begin(), dy.end());
        std::vector<double> y(wide_x.size()), expected(wide_x.size());
        const auto& reference = reference_table<double>().softmax;
        reference.forward(wide_x.data(), y.data(), cols, 0, rows);
        reference.backward(y.data(), wide_dy.data(), expected.data(), cols, 0, rows);
        const std::vector<float> narrow_y(y.begin(), y.end());
        for (Isa isa : available_isas()) {
            INFO(to_string(isa) << " cols " << cols);
            const auto& softmax = kernel_table(isa).softmax;
            Guarded weights(narrow_y), gradient(dy), dx(std::vector<float>(dy.size(), -1.0f)), in_place(dy);
            softmax.backward(weights.begin(), gradient.begin(), dx.begin(), cols, 0, rows);
            softmax.backward(weights.begin(), in_place.begin(), in_place.begin(), cols, 0, rows);
            CHECK(worst(dx.begin(), expected) < 2e-6);  // differences of order 1 scaled by weights up to 1
            CHECK(in_place.data == dx.data);
            CHECK((dx.clean() && weights.clean()));
        }
    }
    // d sum(dy o softmax(x)) / dx by central differences.
    const std::int64_t cols = 7;
    std::vector<double> x{0.3, -1.2, 2.0, 0.1, 0.7, -0.4, 1.5}, dy{1.0, -2.0, 0.5, 3.0, -0.3, 0.2, 0.9};
    std::vector<double> y(7), dx(7);
    const auto& reference = reference_table<double>().softmax;
    const auto loss = [&] {
        reference.forward(x.data(), y.data(), cols, 0, 1);
        double sum = 0;
        for (std::size_t i = 0; i < 7; ++i) sum += y[i] * dy[i];
        return sum;
    };
    loss();
    reference.backward(y.data(), dy.data(), dx.data(), cols, 0, 1);
    for (std::size_t i = 0; i < 7; ++i) {
        const double kept = x[i], step = 1e-5;
        x[i] = kept + step;
        const double above = loss();
        x[i] = kept - step;
        const double below = loss();
        x[i] = kept;
        CHECK((above - below) / (2 * step) == Approx(dx[i]).margin(1e-9));
    }
}

TEST_CASE("softmax: huge, hidden and missing values (S1-08, B05)") {
    for (Isa isa : available_isas()) {
        INFO(to_string(isa));
        const auto& softmax = kernel_table(isa).softmax;
        for (const std::int64_t cols : {3, 16, 21, 70}) {
            std::vector<float> x(static_cast<std::size_t>(cols), -infinity), y(x.size(), -1.0f);
            softmax.forward(x.data(), y.data(), cols, 0, 1);
            CHECK(y == std::vector<float>(x.size(), 0.0f));  // nothing visible
            x[1] = -1e6f;
            softmax.forward(x.data(), y.data(), cols, 0, 1);
            CHECK(y[1] == 1.0f);
            CHECK(y[0] == 0.0f);
            CHECK(y.back() == 0.0f);
            for (float& value : x) value = 1e30f;
            softmax.forward(x.data(), y.data(), cols, 0, 1);
            CHECK(y.back() == Approx(1.0 / static_cast<double>(cols)).epsilon(1e-6));
            x[2] = std::numeric_limits<float>::quiet_NaN();
            softmax.forward(x.data(), y.data(), cols, 0, 1);
            CHECK(std::isnan(y[0]));
            x.assign(x.size(), std::numeric_limits<float>::quiet_NaN());
            softmax.forward(x.data(), y.data(), cols, 0, 1);
            CHECK(std::isnan(y[0]));
        }
    }
}
