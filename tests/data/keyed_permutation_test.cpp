#include "data/keyed_permutation.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "support/catch.hpp"

using namespace causeway;

namespace {

std::vector<std::int64_t> all_of(const KeyedPermutation& permutation, std::int64_t size) {
    std::vector<std::int64_t> image;
    for (std::int64_t i = 0; i < size; ++i) image.push_back(permutation(i));
    return image;
}

}  // namespace

TEST_CASE("a keyed permutation is a bijection of any size") {
    std::vector<std::int64_t> sizes;
    for (std::int64_t size = 1; size <= 70; ++size) sizes.push_back(size);
    sizes.insert(sizes.end(), {255, 256, 257, 1000, 4095, 4096, 4097, 65537});
    for (std::int64_t size : sizes) {
        std::vector<std::int64_t> image = all_of(KeyedPermutation(size, 42, 7), size);
        std::sort(image.begin(), image.end());
        std::int64_t misplaced = 0;
        for (std::int64_t i = 0; i < size; ++i) misplaced += image[static_cast<std::size_t>(i)] != i;
        CHECK(misplaced == 0);
    }
}

TEST_CASE("a keyed permutation depends on all of its key and on nothing else") {
    const auto image = [](std::uint64_t seed, std::uint64_t stream) {
        return all_of(KeyedPermutation(100, seed, stream), 100);
    };
    CHECK(image(1, 1) == image(1, 1));
    std::set<std::vector<std::int64_t>> images;
    for (std::uint64_t seed : {0ull, 1ull, 1ull << 32, 1ull << 63}) {
        for (std::uint64_t stream : {0ull, 1ull, 1ull << 32, 1ull << 63}) images.insert(image(seed, stream));
    }
    CHECK(images.size() == 16);
}

TEST_CASE("keyed permutations of a few elements are all about equally likely") {
    std::map<std::vector<std::int64_t>, int> counts;
    constexpr int draws = 6000;
    for (int seed = 0; seed < draws; ++seed)
        ++counts[all_of(KeyedPermutation(3, static_cast<std::uint64_t>(seed), 0), 3)];
    REQUIRE(counts.size() == 6);
    for (const auto& [image, count] : counts) CHECK(std::abs(count - draws / 6) < 5 * std::sqrt(draws / 6.0));
}

TEST_CASE("a keyed permutation of a huge range stays inside it") {
    const std::int64_t size = (std::int64_t{1} << 40) + 12345;
    const KeyedPermutation permutation(size, 3, 4);
    std::set<std::int64_t> seen;
    for (std::int64_t i = 0; i < 2000; ++i) {
        const std::int64_t there = permutation(size - 1 - i);
        CHECK(there >= 0);
        CHECK(there < size);
        seen.insert(there);
    }
    CHECK(seen.size() == 2000);
    CHECK(*seen.rbegin() - *seen.begin() > size / 2);
}
