#pragma once

#include <string>

#include "data/open_data.hpp"

namespace causeway::train {

/// Tells whether two runs see the same data, wherever it lies: a hash over the number of rows of both sources and 256
/// rows of each (fewer of more than 4096 tokens), spread over an epoch. So a moved file has the same, a longer, shorter
/// or reordered one another; a change between the rows that are looked at is not seen. O(512 rows).
std::string data_fingerprint(const DataSources& data);

}  // namespace causeway::train
