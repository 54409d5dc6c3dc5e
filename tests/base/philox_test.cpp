#include "base/philox.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "base/random_domain.hpp"
#include "support/catch.hpp"

using namespace causeway;

namespace {
using Words = std::array<std::uint32_t, 4>;
}

TEST_CASE("Philox4x32-10 gives the known answers of its authors") {
    CHECK(philox4x32({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
          Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a random stream is Philox at consecutive counters") {
    RandomStream stream(0, 0);
    for (std::uint32_t word : Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}) CHECK(stream.next_u32() == word);
    CHECK(stream.next_u32() == philox4x32({1, 0, 0, 0}, {0, 0})[0]);

    // Seed is the key, stream the upper half of the counter; both in full.
    RandomStream wide(0x299f31d0a4093822, 0x0370734413198a2e);
    CHECK(wide.next_u32() == philox4x32({0, 0, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0})[0]);
}

TEST_CASE("seek goes to any word of a random stream") {
    RandomStream stream(7, 3);
    std::vector<std::uint32_t> words;
    for (int i = 0; i < 11; ++i) words.push_back(stream.next_u32());
    CHECK(stream.position() == 11);
    for (std::uint64_t position : {9u, 0u, 4u, 3u, 7u, 8u}) {
        RandomStream other(7, 3);
        other.seek(position);
        CHECK(other.position() == position);
        CHECK(other.next_u32() == words[position]);
    }
}

TEST_CASE("seeds and streams do not repeat each other") {
    std::set<std::uint64_t> seen;
    for (std::uint64_t seed : {0ull, 1ull, 2ull, 1ull << 32, 1ull << 63}) {
        for (std::uint64_t stream : {0ull, 1ull, 2ull, 1ull << 32, 1ull << 63}) {
            RandomStream random(seed, stream);
            for (int i = 0; i < 100; ++i) seen.insert(random.next_u64());
        }
    }
    CHECK(seen.size() == 25 * 100);
}

TEST_CASE("random domains give disjoint streams") {
    CHECK(stream_of(RandomDomain::initialisation, 5) == 5);
    CHECK(stream_of(RandomDomain::shuffle, 5) == (std::uint64_t{3} << 56) + 5);
    CHECK(stream_of(RandomDomain::training_rows, 0) != stream_of(RandomDomain::validation_rows, 0));
}

TEST_CASE("uniform and normal numbers have their means and variances") {
    RandomStream random(42, 0);
    constexpr int n = 200'000;
    double sum = 0, squares = 0, low = 1, high = 0;
    for (int i = 0; i < n; ++i) {
        const double u = random.next_uniform();
        sum += u;
        squares += u * u;
        low = std::min(low, u);
        high = std::max(high, u);
    }
    CHECK(low >= 0.0);
    CHECK(high < 1.0);
    CHECK(sum / n == Approx(0.5).margin(0.003));
    CHECK(squares / n == Approx(1.0 / 3).margin(0.003));

    sum = squares = 0;
    double fourth = 0;
    for (int i = 0; i < n; ++i) {
        const double z = random.next_normal();
        REQUIRE(std::isfinite(z));
        sum += z;
        squares += z * z;
        fourth += z * z * z * z;
    }
    CHECK(sum / n == Approx(0.0).margin(0.01));
    CHECK(squares / n == Approx(1.0).margin(0.015));
    CHECK(fourth / n == Approx(3.0).margin(0.15));
}

TEST_CASE("bounded integers are unbiased and reach both ends") {
    RandomStream random(1, 1);
    for (std::uint64_t bound : {1u, 2u, 3u, 7u, 10u}) {
        std::vector<int> counts(bound);
        constexpr int draws = 20'000;
        for (int i = 0; i < draws; ++i) ++counts.at(random.next_below(bound));
        const double expected = draws / static_cast<double>(bound);
        for (int count : counts) CHECK(std::abs(count - expected) <= 5 * std::sqrt(expected));
    }
    // A bound above 2^63 leaves the largest share to rejection.
    const std::uint64_t bound = (std::uint64_t{1} << 63) + 1;
    for (int i = 0; i < 1000; ++i) CHECK(random.next_below(bound) < bound);
}
