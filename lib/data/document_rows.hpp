#pragma once

#include <cstdint>
#include <memory>

#include "data/window_sources.hpp"

namespace causeway {

/// One document of the part a row: its first T + 1 tokens are T inputs with their targets; a shorter one leaves the
/// rest of the row to padding, whose targets are ignored. Random draws documents with replacement, an epoch has each
/// exactly once, shuffled anew by (seed, epoch); rows are numbered as those of windows. Throws DataError when there is
/// none.
std::unique_ptr<BatchSource> random_documents(const WindowSettings& settings);
std::unique_ptr<BatchSource> epoch_documents(const WindowSettings& settings);

/// Each document of the part in order, once; the last batch is filled up with rows of padding.
std::unique_ptr<BatchSource> validation_documents(const WindowSettings& settings);

/// Documents of the part that have more than T + 1 tokens, whose rest no row has.
std::int64_t count_cut_documents(const TokenPart& part, std::int64_t sequence_length);

}  // namespace causeway
