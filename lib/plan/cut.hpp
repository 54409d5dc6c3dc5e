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

/// Elements of a tile of elementwise work: 16 KiB of floats, which stay in L1, and half a microsecond to one.
inline constexpr std::int64_t tile_elements = 4096;
/// Rows of `cols` elements in tiles of about tile_elements.
inline Cut cut_rows(std::int64_t rows, std::int64_t cols) {
    return {rows, std::max<std::int64_t>(1, tile_elements / std::max<std::int64_t>(cols, 1))};
}
inline Cut cut_elements(std::int64_t elements) { return {elements, tile_elements}; }
/// Columns of a reduction over rows: whole cache lines, wide enough to stream.
inline Cut cut_columns(std::int64_t cols) { return {cols, 256}; }

}  // namespace causeway
