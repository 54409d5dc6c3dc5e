#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "data/batch_source.hpp"

namespace causeway {

/// Rows of several sources by their weights. Of each block of mixture_block rows, part p gets exactly its share
/// (weight / sum of weights, to the nearest whole row by largest remainder), in an order shuffled by (seed, block); the
/// rows of a part are its own rows 0, 1, 2, ..., so what a part promises of its epochs holds inside a mixture. Which
/// part and which of its rows a row is follows from (seed, row) alone. There are no epochs of the whole. Throws
/// DataError for a weight too small for one row of a block.
std::unique_ptr<BatchSource> mixture_rows(std::vector<std::unique_ptr<BatchSource>> parts,
                                          const std::vector<double>& weights, std::uint64_t seed);

/// The seed that part number `part` of a mixture is to have, so that parts of one size don't draw alike.
std::uint64_t seed_of_part(std::uint64_t seed, std::size_t part);

/// Rows of a block: what a weight is rounded to.
inline constexpr std::int64_t mixture_block = 10'000;

/// One epoch of each part after the other, in order; the last batch is filled up with rows whose targets are ignored.
std::unique_ptr<BatchSource> rows_in_turn(std::vector<std::unique_ptr<BatchSource>> parts);

/// How many of `total` rows each weight gets: shares rounded by largest remainder, the first of equals first.
std::vector<std::int64_t> apportion(const std::vector<double>& weights, std::int64_t total);

}  // namespace causeway
