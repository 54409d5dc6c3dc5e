#include "infer/sampling.hpp"

#include <array>
#include <cmath>
#include <limits>

#include "causeway/error.hpp"
#include "support/catch.hpp"

using namespace causeway;
using namespace causeway::infer;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float not_number = std::numeric_limits<float>::quiet_NaN();
constexpr double nan64 = std::numeric_limits<double>::quiet_NaN();

SamplingOptions options(double temperature, std::int64_t top_k, double top_p, std::uint64_t seed = 1) {
    SamplingOptions made;
    made.temperature = temperature;
    made.top_k = top_k;
    made.top_p = top_p;
    made.seed = seed;
    return made;
}

/// How often each of V tokens comes in `draws` draws.
template <std::size_t V>
std::array<int, V> counts(const SamplingOptions& how, const std::array<float, V>& logits, int draws) {
    Sampler sampler(how);
    std::array<int, V> found{};
    for (int i = 0; i < draws; ++i) ++found.at(static_cast<std::size_t>(sampler.next(logits)));
    return found;
}

}  // namespace

TEST_CASE("B41: temperature 0 is the largest logit, the lowest id among equals, whatever the filters") {
    const std::array<float, 5> logits{1, 3, -2, 3, 0};
    for (const std::int64_t top_k : {0, 1, 4, 100}) {
        for (const double top_p : {0.0, 0.5, 1.0}) CHECK(Sampler(options(0, top_k, top_p)).next(logits) == 1);
    }
}

TEST_CASE("B41: a temperature of 1e-8 is fine and picks the largest") {
    const std::array<float, 4> logits{-80, 88, 87, 0};
    CHECK(counts(options(1e-8, 0, 1), logits, 200)[1] == 200);
    CHECK(counts(options(std::numeric_limits<double>::denorm_min(), 0, 1), logits, 200)[1] == 200);
}

TEST_CASE("B41: a huge temperature is uniform") {
    const std::array<float, 4> logits{-80, 88, 87, 0};
    for (const int count : counts(options(1e300, 0, 1), logits, 4000)) CHECK(std::abs(count - 1000) < 140);
}

TEST_CASE("B41: bad options are named with their value") {
    CHECK_THROWS_MESSAGE(Sampler(options(-0.5, 0, 1)), ConfigError, "temperature: found -0.5, expected a finite");
    CHECK_THROWS_MESSAGE(Sampler(options(nan64, 0, 1)), ConfigError, "temperature: found nan");
    CHECK_THROWS_MESSAGE(Sampler(options(HUGE_VAL, 0, 1)), ConfigError, "temperature: found inf");
    CHECK_THROWS_MESSAGE(Sampler(options(1, -1, 1)), ConfigError, "top_k: found -1, expected an integer of at least 0");
    CHECK_THROWS_MESSAGE(Sampler(options(1, 0, -0.1)), ConfigError, "top_p: found -0.1, expected a number from 0 to 1");
    CHECK_THROWS_MESSAGE(Sampler(options(1, 0, 1.5)), ConfigError, "top_p: found 1.5");
    CHECK_THROWS_MESSAGE(Sampler(options(1, 0, nan64)), ConfigError, "top_p: found nan");
}

TEST_CASE("B41: top_k 0 and top_k above the vocabulary keep all tokens, with the same draws") {
    const std::array<float, 4> logits{0, 0.5f, 1, 1.5f};
    const auto all = counts(options(1, 0, 1), logits, 4000);
    CHECK(all == counts(options(1, 1000, 1), logits, 4000));
    CHECK(all == counts(options(1, 4, 1), logits, 4000));
    for (const int count : all) CHECK(count > 0);
}

TEST_CASE("top_k keeps exactly k tokens, the lowest ids among equals") {
    const std::array<float, 5> logits{1, 2, 1, 1, 1};
    const auto found = counts(options(1, 2, 1), logits, 2000);
    CHECK(found[0] > 0);
    CHECK(found[1] > found[0]);
    CHECK(found[2] + found[3] + found[4] == 0);
}

TEST_CASE("B41: top_p 0 is the most likely token, top_p 1 keeps all") {
    const std::array<float, 4> logits{0, 2, 1, -3};
    CHECK(counts(options(1, 0, 0), logits, 500)[1] == 500);
    for (const int count : counts(options(1, 0, 1), logits, 4000)) CHECK(count > 0);
}

TEST_CASE("top_p keeps the smallest set that reaches p, after top_k") {
    // Probabilities 0.5, 0.25, 0.125, 0.125.
    const float l = std::log(2.0f);
    const std::array<float, 4> logits{3 * l, 2 * l, l, l};
    CHECK(counts(options(1, 0, 0.5), logits, 500)[0] == 500);
    const auto two = counts(options(1, 0, 0.51), logits, 3000);
    CHECK(two[0] + two[1] == 3000);
    CHECK(std::abs(two[0] - 2000) < 110);
    const auto three = counts(options(1, 0, 0.76), logits, 3000);
    CHECK(three[2] > 0);
    CHECK(three[3] == 0);
    // Among the two that top_k leaves, the first alone has 2/3 of the mass.
    CHECK(counts(options(1, 2, 0.66), logits, 500)[0] == 500);
    CHECK(counts(options(1, 2, 0.67), logits, 500)[1] > 0);
}

TEST_CASE("Draws follow softmax(logits / temperature)") {
    const std::array<float, 3> logits{0, 1, 2};
    constexpr int draws = 30000;
    for (const double temperature : {0.5, 1.0, 2.0}) {
        const auto found = counts(options(temperature, 0, 1, 9), logits, draws);
        double total = 0;
        for (const float logit : logits) total += std::exp(logit / temperature);
        for (std::size_t i = 0; i < logits.size(); ++i) {
            const double p = std::exp(logits[i] / temperature) / total;
            CHECK(std::abs(found[i] - draws * p) < 4.5 * std::sqrt(draws * p * (1 - p)));
        }
    }
}

TEST_CASE("Seed and sequence decide the draws") {
    const std::array<float, 8> logits{};
    const auto draw = [&](std::uint64_t seed, std::uint64_t sequence) {
        Sampler sampler(options(1, 0, 1, seed), sequence);
        std::vector<std::int32_t> tokens;
        for (int i = 0; i < 32; ++i) tokens.push_back(sampler.next(logits));
        return tokens;
    };
    CHECK(draw(1, 0) == draw(1, 0));
    CHECK(draw(1, 0) != draw(2, 0));
    CHECK(draw(1, 0) != draw(1, 1));
}

TEST_CASE("Logits that are no numbers are refused, -infinity excludes a token") {
    Sampler sampler(options(1, 0, 1));
    const std::array<float, 3> excluded{0, -inf, 0};
    for (int i = 0; i < 200; ++i) CHECK(sampler.next(excluded) != 1);
    const std::array<float, 3> not_a_number{0, 1, not_number}, infinite{0, inf, 0};
    const std::array<float, 2> impossible{-inf, -inf};
    CHECK_THROWS_MESSAGE(sampler.next(not_a_number), NumericError, "logit of token 2 is nan");
    CHECK_THROWS_MESSAGE(sampler.next(infinite), NumericError, "logit of token 1 is inf");
    CHECK_THROWS_MESSAGE(sampler.next(impossible), NumericError, "every logit is -inf");
    CHECK_THROWS_MESSAGE(sampler.next(std::span<const float>{}), DataError, "no logits");
}

TEST_CASE("min_p keeps the tokens at least so likely compared with the first, after temperature and top_p") {
    // Probabilities 0.5, 0.25, 0.125, 0.125.
    const float l = std::log(2.0f);
    const std::array<float, 4> logits{3 * l, 2 * l, l, l};
    const auto with = [&](double min_p, double temperature = 1) {
        SamplingOptions how = options(temperature, 0, 1);
        how.min_p = min_p;
        return counts(how, logits, 3000);
    };
    CHECK(with(1)[0] == 3000);
    CHECK(with(0.51)[0] == 3000);
    CHECK(std::abs(with(0.49)[0] - 2000) < 110);
    CHECK(with(0.49)[2] == 0);
    CHECK(with(0.24)[3] > 0);
    CHECK(with(0.24, 0.5)[1] > 0);  // half the temperature squares the ratios: 1, 1/4, 1/16
    CHECK(with(0.24, 0.5)[2] == 0);
    SamplingOptions bad = options(1, 0, 1);
    bad.min_p = 1.5;
    CHECK_THROWS_MESSAGE(Sampler(bad), ConfigError, "min_p: found 1.5, expected a number from 0 to 1");
}

TEST_CASE("repetition_penalty divides positive logits of tokens that occurred and multiplies negative ones") {
    const std::array<float, 4> logits{4, 3, -1, -1.5f};
    SamplingOptions how = options(0, 0, 1);
    how.repetition_penalty = 2;
    Sampler sampler(how);
    CHECK(sampler.next(logits) == 0);  // 4; from now on 2
    CHECK(sampler.next(logits) == 1);  // 3; from now on 1.5
    CHECK(sampler.next(logits) == 0);
    const std::array<float, 3> negative{-1, -1.5f, -3};
    Sampler told(how);
    const std::array<std::int32_t, 2> prompt{0, 0};
    told.see(prompt);  // once, however often it occurred: -2
    CHECK(told.next(negative) == 1);
    CHECK(told.next(negative) == 0);  // -2 against -3 and -3
    how.repetition_penalty = 0.5;     // encourages
    Sampler fond(how);
    const std::array<std::int32_t, 1> second{1};
    fond.see(second);
    CHECK(fond.next(logits) == 1);
    for (const double wrong : {0.0, -1.0, nan64, HUGE_VAL}) {
        how.repetition_penalty = wrong;
        CHECK_THROWS_MESSAGE(Sampler(how), ConfigError, "repetition_penalty: found");
    }
}

TEST_CASE("A nucleus of many tokens is found a stretch at a time") {
    std::array<float, 1000> logits{};  // all alike: the first 700 ids make up 0.7
    const auto found = counts(options(1, 0, 0.6995), logits, 20000);
    for (std::size_t i = 0; i < 700; ++i) CHECK(found[i] > 0);
    for (std::size_t i = 700; i < 1000; ++i) CHECK(found[i] == 0);
}
