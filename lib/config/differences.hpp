#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"

namespace causeway {

/// A field that two configs have different values for, as JSON text.
struct FieldDifference {
    std::string field;  ///< "section.key"
    std::string before, after;
};

/// Every field that differs, in the order they are written. O(number of fields).
std::vector<FieldDifference> differences(const Config& before, const Config& after);

}  // namespace causeway
