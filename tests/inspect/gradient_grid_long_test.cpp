#include "inspect/random_config.hpp"

// The same as the 20 random compositions of gradient_check_test.cpp, ten times as many.

TEST_CASE("Gradients of 200 random compositions agree with central differences", "[inspect]") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) check_random_composition(seed);
}
