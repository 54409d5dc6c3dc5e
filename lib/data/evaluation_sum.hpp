#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "data/token_bytes.hpp"

namespace causeway {

/// What the batches of an evaluation add up to.
struct EvaluationSum {
    double loss = 0;           ///< of all targets that count, in nats
    std::int64_t targets = 0;  ///< that count
    std::int64_t hits = 0;     ///< of these, what count_hits found
    std::int64_t bytes = 0;    ///< of text that they stand for

    /// One more batch: its sum of losses and its targets; without `token_bytes` these stand for no text. Allocates
    /// nothing.
    void add(double batch_loss, std::span<const std::int32_t> batch_targets, const TokenBytes* token_bytes);

    double mean_loss() const;                     ///< over the targets that count; 0 when none does
    std::optional<double> accuracy() const;       ///< hits by targets; none without targets
    std::optional<double> bits_per_byte() const;  ///< the whole loss in bits by the bytes; none without bytes
};

}  // namespace causeway
