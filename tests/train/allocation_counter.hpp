#pragma once

#include <cstdint>

/// Counts what this program allocates, through operator new and through malloc and its kin, while it is switched on.
/// Allocations made by code inside libtbb are counted apart: its workers come and go on their own.
namespace allocation_counter {

struct Counts {
    std::int64_t own = 0;
    std::int64_t libtbb = 0;
};

/// False in builds where another tool owns malloc (sanitizers); only operator new is then counted.
bool sees_malloc();
void start();
Counts stop();

}  // namespace allocation_counter
