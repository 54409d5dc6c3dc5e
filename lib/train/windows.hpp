#pragma once

#include <cstdint>

namespace causeway::train {

/// Consecutive rows of a BatchSource.
struct RowRange {
    std::int64_t first = 0;
    std::int64_t count = 0;
};

/// Which rows an optimizer step sees: its accumulation window. Windows are numbered 0, 1, 2, ... over the whole run,
/// and the rows of each follow from its number alone, so a run resumes from that number.
///
/// A window is `accumulation` micro-batches of `batch_size` rows. Where the data has epochs, no window and no
/// micro-batch crosses the end of one: the last micro-batch of an epoch has the rows that are left, the last window the
/// micro-batches that are left. So an epoch is ceil(ceil(rows / batch_size) / accumulation) windows, which together see
/// each of its rows exactly once.
class Windows {
  public:
    /// rows_per_epoch 0: the data has no epochs.
    Windows(std::int64_t rows_per_epoch, std::int64_t batch_size, std::int64_t accumulation);

    /// 0: the data has no epochs.
    std::int64_t per_epoch() const { return per_epoch_; }
    /// Micro-batches of a window, at least 1.
    std::int64_t micro_batches(std::int64_t window) const;
    /// The rows of micro-batch i of a window: at least 1, at most batch_size.
    RowRange micro_batch(std::int64_t window, std::int64_t i) const;
    /// How many windows from 0 on it takes to see at least so many rows.
    std::int64_t until(std::int64_t rows) const;

  private:
    std::int64_t micro_batches_per_epoch() const;

    std::int64_t rows_per_epoch_;
    std::int64_t batch_size_;
    std::int64_t accumulation_;
    std::int64_t per_epoch_;
};

}  // namespace causeway::train
