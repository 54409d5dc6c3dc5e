#include "kernels/guarded.hpp"

using namespace causeway;
using namespace causeway::kernels;

namespace {

using Function = void (*)(const float*, float*, std::int64_t, std::int64_t);

/// Distance of a float from the exact value, in units of the last place of the exact value's binade.
double ulps(float actual, double exact) {
    int exponent = 0;
    std::frexp(exact, &exponent);
    return std::abs(static_cast<double>(actual) - exact) / std::ldexp(1.0, exponent - 24);
}

/// Largest distance over about `count` floats spread evenly over the bit patterns of [low, high] on both sides of 0.
template <class Exact>
double worst_ulps(Function function, Exact exact, float low, float high, std::uint32_t count) {
    std::vector<float> x;
    const std::uint32_t first = 0x00800000U;  // the smallest normal number
    const std::uint32_t last = 0x7f000000U;
    for (std::uint32_t bits = first; bits < last; bits += (last - first) / count) {
        float magnitude = 0;
        std::memcpy(&magnitude, &bits, sizeof magnitude);
        for (const float value : {magnitude, -magnitude}) {
            if (value >= low && value <= high) x.push_back(value);
        }
    }
    std::vector<float> y(x.size());
    function(x.data(), y.data(), 0, static_cast<std::int64_t>(x.size()));
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double value = exact(static_cast<double>(x[i]));
        if (std::abs(value) < static_cast<double>(std::numeric_limits<float>::min())) continue;  // may be flushed
        const double error = ulps(y[i], value);
        if (!(error <= worst)) worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
    return worst;
}

float at(Function function, float x) {
    float y = 0;
    function(&x, &y, 0, 1);
    return y;
}

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

}  // namespace

// Measured over all floats: exp 1.2, tanh 1.4, erf 1.4 ulp at most (without FMA; 0.9, 1.4, 1.2 with).
TEST_CASE("exp, tanh and erf are within 2 ulp") {
    for_each_isa([](const KernelTable<float>& table) {
        const auto& f = table.elementwise;
        CHECK(worst_ulps(
                  f.exp, [](double x) { return std::exp(x); }, -87.3f, 88.72f, 400000) <= 2);
        CHECK(worst_ulps(
                  f.tanh, [](double x) { return std::tanh(x); }, -inf, inf, 400000) <= 2);
        CHECK(worst_ulps(
                  f.erf, [](double x) { return std::erf(x); }, -inf, inf, 400000) <= 2);
    });
}

TEST_CASE("B13: exp over [-104, 89]: a few ulp, right limits") {
    for_each_isa([](const KernelTable<float>& table) {
        const Function exp = table.elementwise.exp;
        double worst = 0;
        double worst_denormal = 0;
        constexpr std::int64_t count = 193 * 64;
        Guarded<float> x(count), y(count);
        for (std::int64_t i = 0; i < count; ++i) x[i] = static_cast<float>(-104.0 + static_cast<double>(i) / 64);
        exp(x.data(), y.data(), 0, count);
        for (std::int64_t i = 0; i < count; ++i) {
            const double exact = std::exp(static_cast<double>(x[i]));
            if (exact > static_cast<double>(std::numeric_limits<float>::max())) {
                CHECK(y[i] == inf);
            } else if (exact < static_cast<double>(std::numeric_limits<float>::min())) {
                worst_denormal = std::max(worst_denormal, std::abs(static_cast<double>(y[i]) - exact));
            } else {
                worst = std::max(worst, ulps(y[i], exact));
            }
        }
        CHECK(worst <= 2);
        CHECK(worst_denormal <= static_cast<double>(std::numeric_limits<float>::min()));
        CHECK(at(exp, 89.0f) == inf);
        CHECK(at(exp, 1e30f) == inf);
        CHECK(at(exp, inf) == inf);
        CHECK(at(exp, -inf) == 0.0f);
        CHECK(at(exp, -1e30f) == 0.0f);
        CHECK(at(exp, 0.0f) == 1.0f);
        CHECK(at(exp, -0.0f) == 1.0f);
        CHECK(std::isnan(at(exp, not_a_number)));
        CHECK(std::isnan(at(exp, -not_a_number)));
    });
}

TEST_CASE("B14: tanh of +-10, +-100, +-1e4 in a row of length 17: lanes and tail agree") {
    for_each_isa([](const KernelTable<float>& table) {
        for (const float magnitude : {10.0f, 100.0f, 1e4f, inf}) {
            for (const float value : {magnitude, -magnitude}) {
                const Guarded<float> x(17, value);
                Guarded<float> y(17);
                table.elementwise.tanh(x.data(), y.data(), 0, 17);
                for (std::int64_t i = 0; i < 17; ++i) CHECK(y[i] == (value > 0 ? 1.0f : -1.0f));
                CHECK(y.margins_intact());
            }
        }
        CHECK(std::isnan(at(table.elementwise.tanh, not_a_number)));
        CHECK(std::signbit(at(table.elementwise.tanh, -0.0f)));
    });
}

TEST_CASE("erf has the right limits") {
    for_each_isa([](const KernelTable<float>& table) {
        const Function erf = table.elementwise.erf;
        for (const float value : {4.0f, 10.0f, 1e4f, 1e30f, inf}) {
            CHECK(at(erf, value) == 1.0f);
            CHECK(at(erf, -value) == -1.0f);
        }
        CHECK(at(erf, 0.0f) == 0.0f);
        CHECK(std::isnan(at(erf, not_a_number)));
    });
}

TEST_CASE("An element's exp, tanh and erf do not depend on where its row begins and ends") {
    const Guarded<float> x = random_values<float>(97, 11, -9, 9);
    for_each_isa([&](const KernelTable<float>& table) {
        for (const Function function : {table.elementwise.exp, table.elementwise.tanh, table.elementwise.erf}) {
            Guarded<float> whole(97), pieces(97);
            function(x.data(), whole.data(), 0, 97);
            for (std::int64_t begin = 0, n = 1; begin < 97; begin += n, ++n) {
                function(x.data(), pieces.data(), begin, std::min<std::int64_t>(97, begin + n));
            }
            CHECK(pieces.same_bits(whole));
            CHECK(pieces.margins_intact());
        }
    });
}
