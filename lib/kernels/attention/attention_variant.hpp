#pragma once

// What AttentionVariant does to the scores of one head, in rows of keys or in columns of queries. Included by the
// x.simd.cpp files of this folder only, and in the ISA's own namespace like everything there.

#include <cstdint>

#include "kernels/attention/attention.hpp"

namespace causeway::kernels::CAUSEWAY_KERNEL_ISA {

/// The part of AttentionVariant that concerns the scores of head h of sequence b.
struct HeadVariant {
    const std::uint8_t* mask;      ///< of query 0, or null
    std::int64_t mask_stride;      ///< from a query to the next
    const std::int32_t* key_mask;  ///< (Tk), or null
    float slope;                   ///< of the bias, in the unit of the scores; 0: none
    std::int64_t past;             ///< position of query 0

    /// Whether there is anything to do: asked once a tile, so that plain attention pays nothing.
    bool adjusts() const { return mask != nullptr || key_mask != nullptr || slope != 0.0f; }
};

/// `unit`: what the scores of a kernel are multiplied with, beside the scale.
HeadVariant head_variant(const AttentionVariant<float>& variant, const AttentionShape& shape, std::int64_t b,
                         std::int64_t h, float unit);

/// Scores of query i against keys [j, j + n): adds the bias, and -inf becomes the score of a hidden key.
void adjust_row(const HeadVariant& variant, std::int64_t i, std::int64_t j, std::int64_t n, float* s);

/// The same for queries [i, i + rows), rows <= lanes, one a lane, and keys [j, j + n), one a row of s (`stride` apart).
void adjust_columns(const HeadVariant& variant, std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t n,
                    float* s, std::int64_t stride);

/// Hides row r of s (n rows, `stride` apart, one vector wide) from lanes above r - low: what lies before a window that
/// begins at row `low` for lane 0 and a row later for each lane.
void hide_before(std::int64_t low, std::int64_t n, float* s, std::int64_t stride);

}  // namespace causeway::kernels::CAUSEWAY_KERNEL_ISA
