#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace causeway::config {

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b` (the optimal string alignment
/// distance). O(|a| |b|) time, O(|b|) memory.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate most like `name`, where case, '-' and '_' count for nothing; empty when none is near enough to be a
/// likely slip (a third of the name's length). The first one wins among equals.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace causeway::config
