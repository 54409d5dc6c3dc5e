#pragma once

#include <string>

#include "ops/lowering.hpp"

namespace causeway::ops {

/// Rows that one partial sum of a norm's parameter gradients covers: at most 32 partial sums, at least 8 rows each.
std::int64_t partial_sum_rows(std::int64_t rows);

/// Partial sums (chunks, cols), `stride` elements apart, in a workspace.
struct PartialSums {
    BufferRef data;
    std::int64_t chunks = 0;
    std::int64_t cols = 0;
    std::int64_t stride = 0;
};

/// Appends the stage that adds them up, in order, into the gradient which input `gradient_input` is a version of and
/// `output` the next.
void sum_partials(LowerContext& context, const std::string& stage, const PartialSums& partial,
                  std::size_t gradient_input, std::size_t output);

}  // namespace causeway::ops
