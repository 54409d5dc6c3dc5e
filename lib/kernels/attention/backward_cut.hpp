#pragma once

// How attention's backward is cut into tiles, by the shape alone. Included by attention_backward.simd.cpp only, and in
// the ISA's own namespace like everything there.

#include <cstdint>

#include "kernels/attention/attention_tile.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA::backward_cut {

/// Keys whose K, V, dK and dV stay in the tile's scratch while the queries pass by, and queries a step: 64 x 64 scores
/// take 16 KiB, P and dS together fit L1 beside the operands being read.
inline constexpr std::int64_t key_block = 64;
inline constexpr std::int64_t query_block = 64;

inline std::int64_t key_blocks(const AttentionShape& shape) { return divide_up(shape.keys, key_block); }
inline std::int64_t query_blocks(const AttentionShape& shape) { return divide_up(shape.queries, query_block); }

/// Groups of key blocks for one (b, kv head), each a tile of its own. One where batch and heads alone give 12 tiles;
/// otherwise as many as make 16, but none below 4 blocks, whose partial dQ would cost more than it spreads.
inline std::int64_t key_groups(const AttentionShape& shape) {
    const std::int64_t instances = shape.batch * shape.kv_heads;
    if (instances == 0 || instances >= 12) return 1;
    return most(1, least(divide_up(16, instances), key_blocks(shape) / 4));
}

/// The queries that see block `block` of keys.
struct QueryRange {
    std::int64_t begin, end;
};

inline QueryRange queries_of(const AttentionShape& shape, std::int64_t block) {
    const Band band = band_of(shape);
    const std::int64_t last = least(shape.keys, (block + 1) * key_block) - 1;
    return {band.first_query(block * key_block), band.end_query(last)};
}

inline std::int64_t block_cost(const AttentionShape& shape, std::int64_t block) {
    const QueryRange queries = queries_of(shape, block);
    return most(0, queries.end - queries.begin) + 1;
}

/// The first key block of a group; groups get contiguous blocks of nearly equal total cost.
inline std::int64_t group_begin(const AttentionShape& shape, std::int64_t group) {
    const std::int64_t blocks = key_blocks(shape);
    const std::int64_t groups = key_groups(shape);
    if (group == 0) return 0;
    if (group == groups) return blocks;
    std::int64_t total = 0, passed = 0, j = 0;
    for (std::int64_t block = 0; block < blocks; ++block) total += block_cost(shape, block);
    while (j < blocks && 2 * passed + block_cost(shape, j) < 2 * total * group / groups) {
        passed += block_cost(shape, j);
        ++j;
    }
    return j;
}

/// Rows of dQ that no block of keys stores: those that see no key, which causal queries before the first key are, and
/// those without any; behind a window all that the group adds to.
inline QueryRange rows_to_clear(const AttentionShape& shape, std::int64_t group) {
    if (shape.window > 0 && group > 0) {
        return {queries_of(shape, group_begin(shape, group)).begin,
                queries_of(shape, group_begin(shape, group + 1) - 1).end};
    }
    if (shape.window > 0 || shape.keys == 0) return {0, shape.queries};
    return {0, group > 0 ? 0 : band_of(shape).first_query(0)};
}

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA::backward_cut
