#pragma once

#include <cstdint>

/// Counts what this program allocates through malloc and its kin (operator new ends there too) while it is switched on.
/// Allocations made by code inside libtbb are counted apart: its workers come and go on their own.
namespace allocation_counter {

struct Counts {
    std::int64_t own = 0;
    std::int64_t libtbb = 0;
};

/// False in builds whose sanitizer owns malloc: nothing is counted there.
bool counts();
void start();
Counts stop();

}  // namespace allocation_counter
