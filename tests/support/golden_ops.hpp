#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "support/catch.hpp"

/// The cases of a file of tests/golden/ops.
inline nlohmann::json golden_cases(const std::string& name) {
    std::ifstream file(std::string(CAUSEWAY_TESTS_DIR) + "/golden/ops/" + name + ".json");
    REQUIRE(file);
    return nlohmann::json::parse(file);
}
