#include "data/tokens.hpp"

#include <cstdint>
#include <limits>
#include <vector>

#include "causeway/error.hpp"
#include "support/catch.hpp"

using namespace causeway;

TEST_CASE("B58: tokens outside the vocabulary are refused with value, position and range") {
    const std::vector<std::int32_t> good{0, 5, 9};
    CHECK_NOTHROW(check_tokens(good, 10, "prompt"));
    CHECK_NOTHROW(check_tokens({}, 10, "prompt"));
    CHECK_THROWS_MESSAGE(check_tokens(good, 9, "prompt"), DataError,
                         "prompt: token 9 at position 2 is outside [0, 9), the range of vocab_size 9");
    const std::vector<std::int32_t> negative{3, -1, 99};
    CHECK_THROWS_MESSAGE(check_tokens(negative, 10, "inputs"), DataError, "inputs: token -1 at position 1");
    const std::vector<std::int32_t> ignored{-100};
    CHECK_THROWS_MESSAGE(check_tokens(ignored, 10, "inputs"), DataError, "token -100 at position 0");
    const std::vector<std::int32_t> largest{std::numeric_limits<std::int32_t>::max()};
    CHECK_THROWS_MESSAGE(check_tokens(largest, 70000, "inputs"), DataError, "2147483647");
}

TEST_CASE("B07: targets are tokens or the ignored value, nothing else") {
    const std::vector<std::int32_t> good{0, -100, 9, -100};
    CHECK_NOTHROW(check_targets(good, 10, "targets"));
    for (std::int32_t bad : {-1, -99, -101, 10, 1000}) {
        const std::vector<std::int32_t> targets{-100, 3, bad, -1};
        CHECK_THROWS_MESSAGE(check_targets(targets, 10, "targets"), DataError,
                             "targets: target " + std::to_string(bad) + " at position 2 is outside [0, 10)");
        CHECK_THROWS_MESSAGE(check_targets(targets, 10, "targets"), DataError, "only -100 is ignored");
    }
    CHECK(is_scored(0));
    CHECK_FALSE(is_scored(-100));
}
