#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "data/batch_source.hpp"
#include "data/token_store.hpp"

namespace causeway {

/// What the ways of cutting rows of T tokens out of a data set share. A window takes T + 1 tokens: its last input needs
/// a target. Targets that carry no loss are ignored.
struct WindowSettings {
    TokenPart tokens;
    std::string name;                  ///< of the data set, for messages
    std::int64_t batch_size = 1;       ///< B
    std::int64_t sequence_length = 1;  ///< T
    std::uint64_t seed = 0;
};

/// "random": every row is one of the n - T windows of the part, each equally likely, with replacement.
/// Throws DataError when there is none (n <= T).
std::unique_ptr<BatchSource> random_windows(const WindowSettings& settings);

/// "epoch": the part is cut into windows that follow each other, W = ceil((n - 1) / T) of them, and an epoch is each of
/// them exactly once, shuffled anew by (seed, epoch) without a permutation in memory. When T does not divide n - 1 the
/// last window is moved back to end with the part, and the targets it shares with its neighbour are ignored: every
/// token but the first is a target exactly once an epoch. Row r belongs to epoch r / W, so a batch may hold the end of
/// an epoch and the beginning of the next, and may be larger than the number of windows.
/// Throws DataError when n <= T.
std::unique_ptr<BatchSource> epoch_windows(const WindowSettings& settings);

/// Windows of the part that start at 0, stride, 2 stride, ... below n - T, in order, once. The last batch is filled up
/// with rows whose targets are all ignored. `stride` 0 stands for T. Throws DataError when n <= T.
std::unique_ptr<BatchSource> validation_windows(const WindowSettings& settings, std::int64_t stride);

}  // namespace causeway
