#include "train/flat_memory.hpp"

using namespace causeway::train;

TEST_CASE("B68: memory stays flat over 500 evaluations and 100 checkpoints") { check_flat_memory(500); }
