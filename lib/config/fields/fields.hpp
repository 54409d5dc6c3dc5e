#pragma once

#include <cstdint>

#include "base/limits.hpp"
#include "config/field.hpp"

/// The sections of the field table, one file each.
namespace causeway::config {

// Upper limits are far above any use; they keep products of sizes inside 64 bits (check.cpp does the rest).
inline constexpr std::int64_t most_tokens = std::int64_t{1} << 31;  // ids are int32
inline constexpr std::int64_t most_positions = std::int64_t{1} << 20;

Section model_section();
Section data_section();
Section train_section();
Section runtime_section();

}  // namespace causeway::config
