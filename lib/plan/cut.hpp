#pragma once

#include <algorithm>
#include <cstdint>

#include "base/ceil_div.hpp"

namespace causeway {

/// A range [0, total) cut into tiles of `grain`, the last one shorter.
struct Cut {
    std::int64_t total = 0;
    std::int64_t grain = 1;

    std::int64_t tiles() const { return ceil_div(total, grain); }
    std::int64_t begin(std::int64_t tile) const { return std::min(tile * grain, total); }
};

/// Rows of `cols` elements in tiles of about 16 Ki elements: 64 KiB of floats, which stay in a core's L1 and L2, and
/// some microseconds of work.
inline Cut cut_rows(std::int64_t rows, std::int64_t cols) {
    return {rows, std::max<std::int64_t>(1, 16384 / std::max<std::int64_t>(cols, 1))};
}
inline Cut cut_elements(std::int64_t elements) { return {elements, 16384}; }
/// Columns of a reduction over rows: whole cache lines, wide enough to stream.
inline Cut cut_columns(std::int64_t cols) { return {cols, 256}; }

}  // namespace causeway
