#pragma once

#include <cstdint>

namespace causeway {

/// Widest head of tiled attention: what the buffers of a tile on the stack hold.
inline constexpr std::int64_t max_tiled_head_dim = 256;

}  // namespace causeway
