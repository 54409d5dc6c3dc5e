#include "config/nearest_name.hpp"
#include "support/catch.hpp"

using namespace causeway::config;

TEST_CASE("edit distance counts insertions, deletions, substitutions and swaps of neighbours") {
    CHECK(edit_distance("", "") == 0);
    CHECK(edit_distance("abc", "") == 3);
    CHECK(edit_distance("", "abc") == 3);
    CHECK(edit_distance("kitten", "sitting") == 3);
    CHECK(edit_distance("modle", "model") == 1);
    CHECK(edit_distance("ab", "ba") == 1);
    CHECK(edit_distance("ca", "abc") == 3);  // a swapped pair is not edited again
    CHECK(edit_distance("learing_rate", "learning_rate") == 1);
}

TEST_CASE("the nearest name is a likely slip or nothing") {
    const std::vector<std::string> names{"learning_rate", "min_learning_rate", "max_steps", "seed"};
    CHECK(nearest_name("learing_rate", names) == "learning_rate");
    CHECK(nearest_name("LearningRate", names) == "learning_rate");
    CHECK(nearest_name("learning-rate", names) == "learning_rate");
    CHECK(nearest_name("min_learing_rate", names) == "min_learning_rate");
    CHECK(nearest_name("max_step", names) == "max_steps");
    CHECK(nearest_name("sede", names) == "seed");
    CHECK(nearest_name("banana", names).empty());
    CHECK(nearest_name("", names).empty());
    CHECK(nearest_name(std::string(100000, 'x'), names).empty());
    CHECK(nearest_name("x", {"y"}).empty());
}
