#pragma once

#include <cstdint>

namespace causeway {

/// Widest head of tiled attention: what the buffers of a tile on the stack hold.
inline constexpr std::int64_t max_tiled_head_dim = 256;

/// Steps are counted no further.
inline constexpr std::int64_t most_steps = std::int64_t{1} << 40;

}  // namespace causeway
